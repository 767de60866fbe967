/** CRI servers in a machine of their own: ours, and containerd to compare with. */
import fs from 'node:fs';
import path from 'node:path';
import { createPrivateHost, installPlugin, startAgent } from '@podwire/testkit';
import { pauseImage, startContainerd } from '@podwire/testkit/containerd';
import { startDocker } from '@podwire/testkit/docker';
import { buildImages } from './images.mjs';
import { giveImages } from './give-images.mjs';
import { useLesserRuntime } from './lesser-runtime.mjs';
import { pullByLoading } from './pull-by-loading.mjs';

const root = path.resolve(import.meta.dirname, '../..');

/** @returns { host, endpoint, imageEndpoint: when it is another one, log: what it has said so far } */
export async function startServer(runtime, network) {
  const host = await createPrivateHost({ name: 'crit', world: true });
  try {
    await host.run(['sysctl', '-qw', 'net.ipv4.ip_forward=1']);
    const plugins = await networks[network](host);
    return { host, ...(await servers[runtime](host, plugins)) };
  } catch (error) {
    await host.close();
    throw error;
  }
}

export const networks = {
  podwire: async (host) => installPlugin(host, (await startAgent(host)).socket),
  debian: (host) => {
    const confDir = path.join(host.directory, 'net.d');
    const ipam = {
      type: 'host-local',
      dataDir: path.join(host.directory, 'leases'),
      ranges: [[{ subnet: '10.77.0.0/24' }]],
      routes: [{ dst: '0.0.0.0/0' }],
    };
    const plugins = [
      { type: 'bridge', bridge: 'cni0', isGateway: true, hairpinMode: true, ipam },
      { type: 'portmap', capabilities: { portMappings: true }, snat: true },
    ];
    fs.mkdirSync(confDir);
    const list = { cniVersion: '0.4.0', name: 'debian', plugins };
    fs.writeFileSync(path.join(confDir, '10-debian.conflist'), JSON.stringify(list));
    return { binDir: '/usr/lib/cni', confDir };
  },
};

export const servers = {
  docker: async (host, plugins) => {
    const docker = await startDocker(host);
    await useLesserRuntime(docker);
    const load = async (image) => {
      const { status, body } = await docker.call('POST', '/images/load?quiet=1', image);
      if (status !== 200) throw new Error(`docker load: ${status} ${body}`);
    };
    const parameters = ['--docker-socket', docker.socket, '--sandbox-image', pauseImage];
    const server = await startPodwire(host, plugins, ['--runtime', 'docker', ...parameters]);
    return withImages(host, server, load);
  },
  embedded: async (host, plugins) => {
    const server = await startPodwire(host, plugins, ['--runtime', 'embedded']);
    return { ...server, endpoint: await giveImages(host, server.endpoint) };
  },
  containerd: async (host, plugins) => {
    const { socket, log } = await startContainerd(host, plugins);
    const archive = path.join(host.directory, 'image.tar');
    const load = async (image) => {
      fs.writeFileSync(archive, image);
      await host.run(['ctr', '--address', socket, '--namespace', 'k8s.io', 'images', 'import', archive]);
    };
    return withImages(host, { endpoint: `unix://${socket}`, log }, load);
  },
};

async function withImages(host, server, load) {
  for (const image of buildImages()) await load(image);
  return { ...server, imageEndpoint: await pullByLoading(host, server.endpoint, load) };
}

async function startPodwire(host, { binDir, confDir }, parameters) {
  const socket = path.join(host.directory, 'cri.sock');
  const places = ['--directory', path.join(host.directory, 'podwire'), '--listen', socket];
  const cni = ['--cni-conf-dir', confDir, '--cni-bin-dir', binDir];
  const command = [process.execPath, path.join(root, 'bin/podwire'), 'sandbox'];
  const service = host.start([...command, ...parameters, ...places, ...cni]);
  host.defer(() => service.stop(20_000));
  await service.waitForOutput(/"msg":"ready"/);
  return { endpoint: `unix://${socket}`, log: () => service.stdout() + service.stderr() };
}
