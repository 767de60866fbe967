/** The pod agent as a process: its beginning and its end. */
import { once } from 'node:events';
import net from 'node:net';
import path from 'node:path';
import { serveCri } from '@podwire/cri';
import { createFakeRuntime } from '@podwire/cri/fake';
import { silentLog } from '@podwire/platform';
import { afterEach, expect, test } from 'vitest';
import { defaultPluginPath } from '../src/pod-agent/options.js';
import { runPodAgent } from '../src/pod-agent/run-pod-agent.js';
import {
  type PodAgentSettings,
  type PodAgentWords,
  readPodAgentSettings,
} from '../src/pod-agent/settings.js';
import { makeTemporaryDirectory } from './temporary.js';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

interface Fixture {
  readonly settings: PodAgentSettings;
  /** Resolves when the connection of the pod agent to its runtime is closed. */
  readonly disconnected: Promise<unknown>;
}

async function createFixture(more: { readonly kubeconfig?: string } = {}): Promise<Fixture> {
  const directory = makeTemporaryDirectory();
  const [runtime, door] = ['cri.sock', 'door.sock'].map((name) => path.join(directory, name)) as [
    string,
    string,
  ];
  const server = await serveCri(createFakeRuntime(), { socket: runtime });
  closers.push(() => server.close(0));
  const listener = net.createServer((outer) => {
    const inner = net.connect(runtime);
    for (const each of [outer, inner]) each.on('error', () => undefined);
    outer.pipe(inner).pipe(outer);
  });
  await new Promise<void>((resolve) => listener.listen(door, resolve));
  closers.push(() => new Promise((resolve) => listener.close(resolve)));
  const words: PodAgentWords = {
    ...{ runtime: door, dockerSocket: '', cniConfDir: directory, cniBinDir: defaultPluginPath },
    ...{ manifests: [], url: [], header: [], nameSuffix: 'none', logs: path.join(directory, 'logs') },
    ...{ clusterDns: [], clusterDomain: 'cluster.local', credentials: [], ...noNodeWords, ...more },
  };
  const settings = readPodAgentSettings(directory, words, 'n1');
  const disconnected = once(listener, 'connection').then(([socket]) => once(socket as net.Socket, 'close'));
  return { settings, disconnected };
}

test('a signal that comes while everything is being opened is its end', async () => {
  const { settings, disconnected } = await createFixture();
  const stopped = new AbortController();
  stopped.abort(new Error('SIGTERM'));
  await runPodAgent(settings, silentLog, stopped);
  await disconnected;
});

test('what was opened before a failure is closed: it would keep the process', async () => {
  const { settings, disconnected } = await createFixture({ kubeconfig: '/nonexistent/kubeconfig' });
  await expect(runPodAgent(settings, silentLog, new AbortController())).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
  });
  await disconnected;
});

const noNodeWords = { nodeLabel: [], allowedUnsafeSysctls: [] };

test('labels and sysctls of the node are checked before anything is opened', () => {
  const words = { runtime: 'embedded', dockerSocket: '', cniConfDir: '/c', cniBinDir: [], manifests: [] };
  const more = {
    url: [],
    header: [],
    nameSuffix: 'none',
    clusterDns: [],
    clusterDomain: 'c',
    credentials: [],
  } as const;
  const read = (own: Partial<PodAgentWords>) =>
    readPodAgentSettings('/run/n1', { ...words, ...more, ...noNodeWords, ...own }, 'n1');
  expect(read({ nodeLabel: ['disk=ssd', 'example.com/zone='] }).nodeLabels).toEqual({
    disk: 'ssd',
    'example.com/zone': '',
  });
  for (const bad of ['disk', '=ssd', 'a b=c', 'disk=a b'])
    expect(() => read({ nodeLabel: [bad] })).toThrow(/^--node-label .*: must be KEY=VALUE/);
  const sysctls = read({ allowedUnsafeSysctls: ['net.core.somaxconn, kernel.msg*', 'net/ipv4/*'] });
  expect(sysctls.allowedUnsafeSysctls).toEqual(['net.core.somaxconn', 'kernel.msg*', 'net/ipv4/*']);
  for (const bad of ['', '*', 'vm.swappiness', 'kernel.*', 'net.*.x', 'k*'])
    expect(() => read({ allowedUnsafeSysctls: [bad] })).toThrow(/belong to the whole node$/);
});

test('headers are checked before they are sent, and not repeated', () => {
  const words = { runtime: 'embedded', dockerSocket: '', cniConfDir: '/c', cniBinDir: [], manifests: [] };
  const more = { url: [], nameSuffix: 'none', clusterDns: [], clusterDomain: 'c', credentials: [] } as const;
  const read = (...header: string[]) =>
    readPodAgentSettings('/run/n1', { ...words, ...more, ...noNodeWords, header }, 'n1').headers;
  expect(read('A: 1', 'constructor:x:y', 'A:2')).toEqual({ A: ['1', '2'], constructor: ['x:y'] });
  for (const bad of ['Bearer s3cret', ': s3cret', 'two words: s3cret', 'A: s3cret\nB: 1'])
    expect(() => read('A: 1', bad)).toThrow(/^--header, number 2: must be "Name: value"$/);
});
