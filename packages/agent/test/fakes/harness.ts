import { type FaultPoints, noFaults } from '@podwire/engine';
import { endpointKey } from '@podwire/network-contract';
import { PodwireError } from '@podwire/errors';
import { createIpam } from '@podwire/ipam';
import { type AgentDependencies, type AgentParts, assembleAgent } from '../../src/assemble.js';
import { type AgentConfig, parseConfig } from '../../src/config/index.js';
import { serveRequest } from '../../src/endpoints/serve-request.js';
import { indexModels, networkModels } from '../../src/models.js';
import { createLog } from '../../src/log.js';
import type { HostView } from '../../src/node/host-view.js';
import type { Namespaces } from '../../src/node/namespaces.js';
import { loadRecords } from '../../src/recovery.js';
import { FakeEngine } from './fake-engine.js';
import { createMemoryRecords, type MemoryRecords } from './memory-records.js';

/** One call of a plugin, with everything that a test does not care about left out. */
export interface TestCall {
  readonly id?: string;
  readonly ifName?: string;
  readonly netns?: string;
  readonly args?: string;
  readonly config?: Record<string, unknown>;
  readonly environment?: Record<string, string>;
  readonly stdin?: string;
  /** Reaction of the plugin to the answer; by default it takes it. */
  readonly answer?: (ok: boolean, body: string) => Promise<void>;
}

export interface TestAnswer {
  readonly ok: boolean;
  readonly body: string;
  /** The body decoded; undefined when it is empty. */
  readonly json: Record<string, unknown> & { code?: number; msg?: string };
}

/** The host as the agent sees it, and the clock in milliseconds since the epoch. */
export interface World {
  host: HostView;
  now: number;
}

export interface Harness extends AgentParts {
  readonly config: AgentConfig;
  readonly engine: FakeEngine;
  readonly records: MemoryRecords;
  readonly namespaces: InodeMap;
  /** State of the world outside the agent; tests change it. */
  readonly world: World;
  readonly logged: Record<string, unknown>[];
  call(command: string, call?: TestCall): Promise<TestAnswer>;
  /** Another agent on the same records and kernel, as after a restart; not recovered yet. */
  restart(change?: HarnessOptions): Harness;
  /** As the agent's start does it. */
  recover(): Promise<string[]>;
}

export interface HarnessOptions {
  readonly yaml?: string;
  readonly faults?: FaultPoints;
  readonly engine?: FakeEngine;
  readonly records?: MemoryRecords;
  readonly namespaces?: InodeMap;
  readonly dependencies?: Partial<AgentDependencies>;
}

/** `undefined`: the namespace is gone. */
type InodeMap = Map<string, number | undefined>;

const ownInode = 1;
export const ordinaryHost: HostView = {
  links: [
    { index: 1, name: 'lo', mtu: 65_536, up: true, loopback: true, own: false },
    { index: 2, name: 'eth0', mtu: 1450, up: true, loopback: false, own: false },
  ],
  defaultRoutes: [{ family: 4, link: 2, metric: 0 }],
  addresses: [],
  nextHops: [],
  ipv6: true,
};

/** An agent without sockets: real addresses, real model, kernel and files in memory. It is ready from the start. */
export async function createReadyHarness(options: HarnessOptions = {}): Promise<Harness> {
  const harness = createHarness(options);
  await harness.recover();
  return harness;
}

export function createHarness(options: HarnessOptions = {}): Harness {
  const config = parseConfig(options.yaml ?? 'nodeName: node1');
  const engine = options.engine ?? new FakeEngine();
  const records = options.records ?? createMemoryRecords();
  const inodes = options.namespaces ?? new Map([['/run/netns/own', ownInode]]);
  const logged: Record<string, unknown>[] = [];
  const world: World = { host: ordinaryHost, now: 1_700_000_000_000 };
  const parts = assembleAgent(config, {
    version: '0.0.0-test',
    engine,
    records,
    models: indexModels(networkModels),
    createIpam,
    namespaces: fakeNamespaces(inodes),
    readHost: () => world.host,
    peerCredentials: () => ({ pid: 1, uid: 0, gid: 0 }),
    clock: () => world.now,
    elapsed: () => performance.now(),
    random: countingBytes(),
    faults: options.faults ?? noFaults,
    log: createLog({
      level: 'debug',
      nodeName: config.nodeName,
      destination: { write: (line) => void logged.push(JSON.parse(line) as Record<string, unknown>) },
    }),
    ...options.dependencies,
  });
  return {
    ...parts,
    config,
    engine,
    records,
    namespaces: inodes,
    world,
    logged,
    call: (command, call = {}) => callAgent(parts, command, call),
    restart: (change) => createHarness({ ...options, engine, records, namespaces: inodes, ...change }),
    async recover() {
      loadRecords(parts.context);
      await parts.reconciler.run();
      return parts.context.broken.problems();
    },
  };
}

export const keyOf = (id: string, ifName = 'eth0', network = 'podwire'): string =>
  endpointKey({ containerId: id, ifName, network });

async function callAgent(parts: AgentParts, command: string, call: TestCall): Promise<TestAnswer> {
  const id = call.id ?? 'c1';
  const environment = {
    CNI_COMMAND: command,
    CNI_CONTAINERID: id,
    CNI_NETNS: call.netns ?? `/run/netns/${id}`,
    CNI_IFNAME: call.ifName ?? 'eth0',
    CNI_ARGS: call.args ?? '',
    CNI_PATH: '/opt/cni/bin',
    ...call.environment,
  };
  const config = { cniVersion: '1.1.0', name: 'podwire', type: 'podwire-cni', ...call.config };
  let answer: TestAnswer | undefined;
  const request = {
    environment: Object.entries(environment),
    stdin: Buffer.from(call.stdin ?? JSON.stringify(config)),
  };
  await serveRequest(parts.service, { request }, async (ok, body) => {
    await call.answer?.(ok, body);
    if (answer !== undefined) throw new Error('answered twice');
    answer = { ok, body, json: (body === '' ? {} : JSON.parse(body)) as TestAnswer['json'] };
  });
  return answer ?? { ok: false, body: '', json: {} };
}

/** Inodes by path: what a test put there (`undefined`: gone, 0: a file that is no namespace), or one made of its name. */
function fakeNamespaces(inodes: InodeMap): Namespaces {
  const inodeAt = (path: string): number | undefined =>
    inodes.has(path) ? inodes.get(path) : inodeOfName(path);
  return {
    identify(path, { allowOwn = false } = {}) {
      const inode = inodeAt(path);
      if (inode === undefined)
        throw new PodwireError('NAMESPACE_GONE', `there is no network namespace at ${path}`);
      if (inode === 0) throw new PodwireError('NAMESPACE_INVALID', `${path} is no network namespace`);
      if (inode === ownInode && !allowOwn)
        throw new PodwireError('NAMESPACE_INVALID', `${path} is the node's own`);
      return { path, device: 4, inode };
    },
    isGone: ({ path, inode }) => inodeAt(path) !== inode && inodeAt(path) !== 0,
  };
}

function inodeOfName(path: string): number | undefined {
  const name = /^\/run\/netns\/([\w-]+)$/.exec(path)?.[1];
  return name === undefined
    ? undefined
    : 1000 + [...name].reduce((sum, letter) => sum * 31 + letter.charCodeAt(0), 7);
}

/** 0…01, 0…02 and so on: different each time, and known to the test. */
function countingBytes(): (bytes: number) => Uint8Array {
  let count = 0n;
  return (bytes) => Buffer.from((++count).toString(16).padStart(bytes * 2, '0'), 'hex');
}
