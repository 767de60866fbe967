/** A machine of its own with a pod agent on it, whose every process, file and link a test can account for. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { openLocalApi } from '@podwire/local-api';
import { replaceFileSync } from '@podwire/platform';
import type { LoopSettings, PodView } from '@podwire/podlet';
import {
  type Agent,
  bundledProgram,
  createPrivateHost,
  installPlugin,
  mountsBelow,
  type PrivateHost,
  processesIn,
  type Snapshot,
  startAgent,
  takeSnapshot,
  untilSameSnapshot,
} from '@podwire/testkit';
import { type FaultInjector, openFaultInjector } from '@podwire/testkit/fault-injection';
import { addressOf, type Board, isReady, watchUntil } from './board.js';
import type { PodAgentConfig, RuntimeConfig } from './entry-config.js';
import { killQuietly, processesWith } from './end-processes.js';
import { webPod } from './manifests.js';
import { createPaths, leasesIn, listPodThings, type Paths } from './paths.js';
import { createService, type Service } from './service.js';

export interface MachineOptions {
  readonly name: string;
  /** Debian's bridge with host-local, or Podwire's own with its agent. */
  readonly network?: 'bridge' | 'podwire';
  readonly settings?: Partial<LoopSettings>;
  /** `embedded` when absent; else who makes the runtime, and what the pod agent is told of it. */
  readonly runtime?: (machine: Bare) => Promise<Partial<RuntimeConfig>>;
  /** Of one ADD or DEL of the network. */
  readonly networkTimeoutMs?: number;
  /** Installs plugins of the test. @returns what stands behind the bridge in the network's chain */
  readonly chain?: (host: PrivateHost, paths: Paths) => readonly object[];
  /** Starts an API server. @returns its URL */
  readonly server?: (host: PrivateHost) => Promise<string>;
}

/** State before there is a pod agent. */
export interface Bare {
  readonly host: PrivateHost;
  readonly paths: Paths;
  readonly config: RuntimeConfig;
  /** Of Podwire's network. */
  readonly agent: Agent | undefined;
}

export interface PodMachine extends Bare {
  readonly podAgent: Service;
  readonly injector: FaultInjector;
  /** Puts a manifest into its place as a whole. */
  write(file: string, manifest: object | string): void;
  drop(file: string): void;
  /** @throws Error after a minute, with the pods as they are */
  until(what: string, isSo: (pods: readonly PodView[], board: Board) => boolean): Promise<readonly PodView[]>;
  /** Waits until the pod is ready and can be reached. @returns it */
  untilServing(name: string, text?: string): Promise<PodView>;
  untilGone(name?: string): Promise<void>;
  /** Answer of an HTTP server to this machine; an error is thrown. */
  fetch(address: string, port?: number): Promise<string>;
  /** IPv4 addresses that are given away now. */
  addresses(): Promise<readonly string[]>;
  /** Until these are given away and no others: what a fault has left is taken back in the background. @throws Error after 20 s */
  untilAddresses(...wanted: readonly (string | undefined)[]): Promise<void>;
  /** Drops what manifests are still there, as where a test has failed; then nothing of any pod is left. */
  assertNothingLeft(): Promise<void>;
  /** Lets namespaces end that were kept for the next look: part of what a reboot ends. */
  letNamespacesGo(): void;
  close(): Promise<void>;
}

/** Failures are tried again soon; everything else is as always. */
const hasty: Partial<LoopSettings> = {
  retryMs: 300,
  networkRetryMs: 300,
  restartBackOff: { initial: 500, max: 2_000 },
  garbageMs: 500,
  housekeepingMs: 300,
  relistMs: 500,
  relistWithEventsMs: 1_000,
  syncMs: 200,
  statusMs: 300,
};

export async function createPodMachine(options: MachineOptions): Promise<PodMachine> {
  const host = await createPrivateHost({ name: options.name });
  try {
    return await assembleMachine(host, options);
  } catch (error) {
    await host.close();
    throw error;
  }
}

async function assembleMachine(host: PrivateHost, options: MachineOptions): Promise<PodMachine> {
  const bare = await prepare(host, options);
  const { paths } = bare;
  const config: PodAgentConfig = {
    ...bare.config,
    ...(await options.runtime?.(bare)),
    manifests: [paths.manifests],
    settings: { ...hasty, ...options.settings },
    ...(options.server === undefined ? {} : { server: await options.server(host) }),
  };
  const injector = openFaultInjector(paths.orders);
  injector.clear();
  const onExit = (): void => tearDown(host, paths);
  // Before the directory is removed, which is what a private host does then.
  process.prependListener('exit', onExit);
  host.defer(() => {
    process.off('exit', onExit);
    tearDown(host, paths);
  });
  const podAgent = startEntry(host, 'pod-agent-entry', config, paths.orders);
  await podAgent.start();
  const machine = assemble(bare, podAgent, injector);
  await machine.warmUp();
  return machine;
}

async function prepare(host: PrivateHost, options: MachineOptions): Promise<Bare> {
  const paths = createPaths(host);
  // A machine without any address reaches no pod whose route has none of its own.
  await host.namespace.ip('addr add 192.0.2.10/32 dev lo');
  const agent = options.network === 'podwire' ? await startAgent(host, { config: agentConfig }) : undefined;
  if (agent === undefined) writeNetwork(paths, options.chain?.(host, paths));
  else await installPlugin(host, agent.socket);
  const config: RuntimeConfig = {
    runtime: 'embedded',
    directory: paths.state,
    bootIdFile: paths.bootId,
    netnsDirectory: paths.netns,
    network: {
      configDirectory: paths.confDir,
      pluginPath: [paths.binDir, '/usr/lib/cni'],
      stateDirectory: paths.network,
      ...(options.networkTimeoutMs === undefined ? {} : { timeoutMs: options.networkTimeoutMs }),
    },
  };
  return { host, paths, config, agent };
}

/** Nothing happens by itself while a test looks, and what is released can be had again. */
const agentConfig = { reconcileInterval: '1h', coolDown: '0s' };

/** Debian's bridge with host-local, and further plugins behind it. Put into its place as a whole. */
function writeNetwork({ confDir, leases }: Paths, after: readonly object[] = []): void {
  const ipam = { type: 'host-local', ranges: [[{ subnet: '10.88.0.0/24' }]], dataDir: leases };
  const bridge = { type: 'bridge', bridge: 'cni0', isGateway: true, ipam };
  const text = JSON.stringify({ cniVersion: '1.0.0', name: 'pods', plugins: [bridge, ...after] });
  replaceFileSync(path.join(confDir, '10-pods.conflist'), text);
}

/** One of the entries beside this file, with orders. */
export function startEntry(host: PrivateHost, entry: string, config: object, orders: string): Service {
  const file = path.join(host.directory, `${entry}.json`);
  fs.writeFileSync(file, JSON.stringify(config));
  const program = bundledProgram(path.join(import.meta.dirname, `${entry}.js`));
  return createService(host, [process.execPath, program, '--config', file], { PODWIRE_FAULTS: orders });
}

/** Removes the pods of a failed or interrupted test: they outlive everything else. Not to be waited for. */
function tearDown(host: PrivateHost, paths: Paths): void {
  const pins = fs.readdirSync(paths.netns).map((name) => path.join(paths.netns, name));
  const inside = processesIn(new Set(pins.map((file) => fs.statSync(file).ino)));
  [...inside, ...processesWith('podwire-hold', `${host.directory}/`)].forEach(killQuietly);
  const mounts = mountsBelow(paths.state).map((mount) => mount.path);
  const pinned = pins.filter((pin) => mountsBelow(paths.netns).some((mount) => mount.path === pin));
  for (const file of [...pinned, ...mounts.reverse()]) execFileSync('umount', ['--lazy', file]);
}

async function listAddresses({ agent, paths }: Bare): Promise<readonly string[]> {
  if (agent === undefined) return leasesIn(paths);
  const api = openLocalApi({
    socket: agent.apiSocket,
    peer: { name: 'agent', unreachable: 'AGENT_UNREACHABLE' },
  });
  const { networks } = await api.get<{ networks: { leases: { address: string }[] }[] }>('/v1/ipam');
  const all = networks.flatMap(({ leases }) => leases.map(({ address }) => address));
  return all.filter((address) => !address.includes(':'));
}

/** The bridge stays after its last pod, as it should; its address is one that the kernel derives from its ports. */
const ofTheBridge = [/cni0/, /fe80::/, /ff00::/];

function assemble(
  bare: Bare,
  podAgent: Service,
  injector: FaultInjector,
): PodMachine & { warmUp(): Promise<void> } {
  const { host, paths } = bare;
  const socket = path.join(paths.state, 'podlet.sock');
  const seen = new Map<number, number>();
  let untouched: Snapshot | undefined;
  const picture = async (): Promise<Snapshot> => ({
    ...(await takeSnapshot(host.namespace)),
    things: listPodThings(host, paths),
    programs: { ofPods: processesIn(new Set(seen.keys())) },
    ipam: { given: await listAddresses(bare) },
  });
  const self = {
    ...{ ...bare, podAgent, injector },
    write: (file: string, manifest: object | string): void => {
      const text = typeof manifest === 'string' ? manifest : JSON.stringify(manifest);
      replaceFileSync(path.join(paths.manifests, file), text);
    },
    drop: (file: string): void => fs.rmSync(path.join(paths.manifests, file)),
    until: async (what: string, isSo: Parameters<PodMachine['until']>[1]) => {
      const look = (board: Board): boolean => {
        noteNamespaces(paths, seen);
        return isSo(board.pods, board);
      };
      try {
        return (await watchUntil(socket, what, look)).pods;
      } catch (error) {
        throw new Error(`${(error as Error).message}\n${podAgent.log()}`, { cause: error });
      }
    },
    untilServing: async (name: string, text = name): Promise<PodView> => {
      const isIt = (one: PodView): boolean => one.name === name && isReady(one) && one.stage === 'running';
      const pods = await self.until(`${name} is ready`, (all) => all.some(isIt));
      const found = pods.find(isIt)!;
      const answer = await self.fetch(addressOf(found));
      if (answer !== `${text}\n`) throw new Error(`${name} says ${answer}`);
      return found;
    },
    untilGone: async (name?: string): Promise<void> => {
      await self.until(`${name ?? 'all'} gone`, (all) =>
        all.every((one) => name !== undefined && one.name !== name),
      );
    },
    fetch: (address: string, port = 80) =>
      host.run(['busybox', 'wget', '-qO-', `http://${address}:${port}/`], { timeout: 10_000 }),
    addresses: () => listAddresses(bare),
    untilAddresses: async (...wanted: readonly (string | undefined)[]): Promise<void> => {
      const expected = wanted.toSorted();
      for (const end = performance.now() + 20_000; ; await sleep(20)) {
        const given = (await listAddresses(bare)).toSorted();
        if (isDeepStrictEqual(given, expected)) return;
        if (performance.now() > end) assert.deepEqual(given, expected);
      }
    },
    assertNothingLeft: async (): Promise<void> => {
      for (const file of fs.readdirSync(paths.manifests)) self.drop(file);
      await self.untilGone();
      await untilSameSnapshot(untouched!, picture, { ignore: ofTheBridge, timeout: 10_000 });
      letGo(seen);
    },
    warmUp: async (): Promise<void> => {
      self.write('first.json', webPod('first'));
      await self.untilServing('first');
      self.drop('first.json');
      await self.untilGone();
      await settled(() => Object.values(listPodThings(host, paths)).flat().length);
      untouched = await picture();
      letGo(seen);
    },
    letNamespacesGo: () => letGo(seen),
    close: async () => {
      letGo(seen);
      await host.close();
    },
  };
  return self;
}

/** Held open, so that the kernel does not give an inode's number to another namespace meanwhile. */
function noteNamespaces({ netns }: Paths, seen: Map<number, number>): void {
  for (const name of fs.readdirSync(netns)) {
    const file = path.join(netns, name);
    const { ino, dev } = fs.statSync(file, { throwIfNoEntry: false }) ?? { ino: 0, dev: 0 };
    // Not one that is being made: an empty file on the disk, whose number may be anything's.
    if (ino === 0 || dev === fs.statSync(netns).dev || seen.has(ino)) continue;
    seen.set(ino, fs.openSync(file, 'r'));
  }
}

function letGo(seen: Map<number, number>): void {
  for (const descriptor of seen.values()) fs.closeSync(descriptor);
  seen.clear();
}

/** Links that were taken off the network, and a holder's last moments: until a count stays for half a second. */
async function settled(count: () => number): Promise<void> {
  let last = -1;
  for (let same = 0; same < 5;) {
    const now = count();
    same = now === last ? same + 1 : 0;
    last = now;
    await sleep(100);
  }
}
