/** Common parts of the tests of openshift-sdn: its calls, and a node that answers what a test wants. */
import fs from 'node:fs';
import path from 'node:path';
import { type FakeNode, startNode } from './fake-node.js';
import { buildPrograms, type Program } from './programs.js';

export interface Built {
  readonly programs: readonly Program[];
  /** Where they look for `socket` and `config.json`. It is not there at first. */
  readonly runDirectory: string;
}

/** Every form of the plugin, as of `buildPrograms`. */
export async function buildOpenshift(folder: string): Promise<Built> {
  const runDirectory = path.join(folder, 'run/cniserver');
  const programs = await buildPrograms(folder, { program: 'openshift-sdn', place: runDirectory });
  return { programs, runDirectory };
}

export const networkConfig = (cniVersion: string): string =>
  JSON.stringify({ cniVersion, name: 'openshift-sdn', type: 'openshift-sdn' });

const variables = {
  CNI_CONTAINERID: 'abc',
  CNI_NETNS: '/run/netns/pod',
  CNI_IFNAME: 'eth0',
  CNI_PATH: '/opt/cni/bin',
  CNI_ARGS: 'IgnoreUnknown=1;K8S_POD_NAMESPACE=ns;K8S_POD_NAME=pod',
};
export const ADD = { CNI_COMMAND: 'ADD', ...variables };
export const DEL = { CNI_COMMAND: 'DEL', ...variables };

/** Listens in the directory, with a config.json beside the socket, and answers each request once it is whole. */
export async function startFakeNode(runDirectory: string): Promise<FakeNode> {
  fs.mkdirSync(runDirectory, { recursive: true });
  fs.writeFileSync(path.join(runDirectory, 'config.json'), '{"mtu":1450}');
  const node = await startNode(path.join(runDirectory, 'socket'));
  const { stop } = node;
  node.stop = async () => {
    await stop();
    fs.rmSync(runDirectory, { recursive: true });
  };
  return node;
}
