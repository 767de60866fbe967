/**
 * The embedded runtime has no images: its containers have the files of a directory and a command of their own. For
 * critest this stands before it and knows, for each image, both of them. All else passes.
 */
import path from 'node:path';
import { connectCri, serveCri } from '@podwire/cri';
import { writeTree } from '@podwire/testkit/containerd';
import { describeImages } from './images.mjs';

/** @returns the endpoint */
export async function giveImages(host, endpoint) {
  const images = layOut(host.directory);
  const runtime = await connectCri({ socket: endpoint.replace(/^unix:\/\//, '') });
  host.defer(() => runtime.close());
  const createContainer = (request, options) =>
    runtime.createContainer({ ...request, config: withImage(request.config, images) }, options);
  const socket = path.join(host.directory, 'with-images.sock');
  const server = await serveCri({ ...runtime, createContainer }, { socket });
  host.defer(() => server.close());
  return `unix://${socket}`;
}

function layOut(parent) {
  return describeImages().map(({ name, files, command }, index) => {
    const directory = path.join(parent, `image-${index}`);
    writeTree(directory, files);
    return { name, directory, command };
  });
}

function withImage(config, images) {
  const found = images.find(
    ({ name }) => name.replace(/:latest$/, '') === config?.image?.image.replace(/:latest$/, ''),
  );
  if (found === undefined) return config;
  const image = { ...config.image, image: `dir://${found.directory}` };
  return { ...config, image, command: config.command.length === 0 ? found.command : config.command };
}
