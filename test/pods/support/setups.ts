/** Runtimes and networks that pods are run with, each on a machine of its own. */
import fs from 'node:fs';
import path from 'node:path';
import { createPrivateHost, installPlugin, type PrivateHost, startAgent } from '@podwire/testkit';
import { pauseImage, startContainerd } from '@podwire/testkit/containerd';
import { startDocker } from '@podwire/testkit/docker';
import { createService, type Service } from './service.js';

const repository = path.resolve(import.meta.dirname, '../../../..');
export const podwire = [process.execPath, path.join(repository, 'bin/podwire')];

/**
 * `docker with its own network`: dockerd as people start it, with its bridge and its rules. The machine forwards already when it starts,
 * so that it leaves the policy of FORWARD as it is.
 */
export type RuntimeName = 'embedded' | 'containerd' | 'docker' | 'docker with its own network';
export type NetworkName = 'podwire' | 'debian';

/** A machine with the real pod agent. */
export interface Setup {
  readonly host: PrivateHost;
  readonly directory: string;
  readonly manifests: string;
  readonly out: string;
  readonly podAgent: Service;
  /** Remains in the runtime itself, asked past the code under test. */
  readonly remains: () => Promise<readonly string[]>;
}

interface Paths {
  readonly binDir: string;
  readonly confDir: string;
}

export async function createSetup(runtime: RuntimeName, network: NetworkName): Promise<Setup> {
  const host = await createPrivateHost({
    name: `${runtime.slice(0, 3)}-${network.slice(0, 3)}`,
    world: true,
  });
  try {
    const paths = network === 'podwire' ? await installPodwire(host) : writeDebian(host);
    // As on every node: for what comes from the world to a port.
    await host.run(['sysctl', '-qw', 'net.ipv4.ip_forward=1']);
    return await prepare(host, runtime, paths);
  } catch (error) {
    await host.close();
    throw error;
  }
}

async function installPodwire(host: PrivateHost): Promise<Paths> {
  const agent = await startAgent(host, { config: { reconcileInterval: '1h', coolDown: '0s' } });
  return installPlugin(host, agent.socket);
}

function writeDebian(host: PrivateHost): Paths {
  const at = (name: string): string => path.join(host.directory, name);
  const ipam = {
    type: 'host-local',
    ranges: [[{ subnet: '10.88.0.0/24' }]],
    routes: [{ dst: '0.0.0.0/0' }],
    dataDir: at('leases'),
  };
  const plugins = [
    { type: 'bridge', bridge: 'cni0', isGateway: true, ipMasq: true, hairpinMode: true, ipam },
    { type: 'portmap', snat: true, capabilities: { portMappings: true } },
    { type: 'bandwidth', capabilities: { bandwidth: true } },
  ];
  fs.mkdirSync(at('net.d'));
  const list = JSON.stringify({ cniVersion: '1.0.0', name: 'debian', plugins });
  fs.writeFileSync(path.join(at('net.d'), '10-debian.conflist'), list);
  return { binDir: '/usr/lib/cni', confDir: at('net.d') };
}

interface Engine {
  readonly words: readonly string[];
  readonly remains: Setup['remains'];
}

async function startEngine(host: PrivateHost, runtime: RuntimeName, paths: Paths): Promise<Engine> {
  const network = ['--cni-conf-dir', paths.confDir, '--cni-bin-dir', paths.binDir];
  if (runtime === 'containerd') {
    const containerd = await startContainerd(host, paths);
    const remains = async () => {
      const { containers } = await containerd.runtime.listContainers({});
      return [...(await containerd.cri.listSandboxes()), ...containers].map(({ id }) => id);
    };
    return { words: ['--runtime', containerd.socket], remains };
  }
  if (runtime !== 'embedded') {
    const docker = await startDocker(host, { network: runtime === 'docker' ? 'none' : 'default' });
    const engine = ['--docker-socket', docker.socket, '--sandbox-image', pauseImage];
    const remains = async () => (await docker.containers()).map(({ name }) => name);
    return { words: ['--runtime', 'docker', ...engine, ...network], remains };
  }
  return { words: ['--runtime', 'embedded', ...network], remains: () => Promise.resolve([]) };
}

async function prepare(host: PrivateHost, runtime: RuntimeName, paths: Paths): Promise<Setup> {
  const at = (name: string): string => path.join(host.directory, name);
  for (const name of ['manifests', 'out']) fs.mkdirSync(at(name));
  const { words, remains } = await startEngine(host, runtime, paths);
  const directory = at('s');
  const own = ['--directory', directory, '--manifests', at('manifests'), '--node-name', 'node1'];
  const podAgent = createService(host, [...podwire, 'podlet', ...own, ...words]);
  await podAgent.start();
  return { host, directory, manifests: at('manifests'), out: at('out'), podAgent, remains };
}
