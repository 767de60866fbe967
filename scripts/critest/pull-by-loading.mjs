/**
 * critest pulls images by fixed names from a registry of the Internet. For it, this image service stands before the real
 * one and loads archives instead; all else passes. What pulling is by itself is tested with a registry of our own elsewhere.
 */
import path from 'node:path';
import { connectCri, CriError, serveCri } from '@podwire/cri';
import { writeImage } from '@podwire/testkit/containerd';
import { describePullable } from './images.mjs';

/** @param load hands an archive to the engine @returns the endpoint of the image service */
export async function pullByLoading(host, endpoint, load) {
  const images = new Map(describePullable().map((image) => [image.name, image]));
  const runtime = await connectCri({ socket: endpoint });
  host.defer(() => runtime.close());
  const pullImage = async ({ image }) => {
    const name = image?.image ?? '';
    const found = images.get(name) ?? images.get(`${name}:latest`);
    if (found === undefined) throw new CriError('NOT_FOUND', `critest has no image ${name} here`);
    await load(writeImage(found));
    const { image: loaded } = await runtime.imageStatus({ image, verbose: false });
    return { imageRef: loaded?.id ?? '' };
  };
  const socket = path.join(host.directory, 'images.sock');
  const server = await serveCri({ ...runtime, pullImage }, { socket });
  host.defer(() => server.close());
  return `unix://${socket}`;
}
