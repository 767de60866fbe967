/** A private host with an agent that a test can kill at any step, and everything that is compared afterwards. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { openNamespace } from '@podwire/linux';
import { type Link, listLinks, openRouteConnection } from '@podwire/netlink';
import {
  type Agent,
  type AgentOptions,
  createPrivateHost,
  type Exit,
  type PrivateHost,
  readThreadStates,
  type Snapshot,
  startAgent,
  takeSnapshot,
  type TestNamespace,
} from '@podwire/testkit';
import { type AgentApi, openApi } from './api.js';
import { callOverSocket, type CniAnswer, type CniCall, type RunningPlugin, startPlugin } from './calls.js';
import { type FaultInjector, openFaultInjector } from '@podwire/testkit/fault-injection';

export interface FaultHost {
  readonly host: PrivateHost;
  readonly agent: Agent;
  readonly api: AgentApi;
  readonly injector: FaultInjector;
  /** Through the real plugin. */
  call(call: CniCall): Promise<CniAnswer>;
  /** As `call`, and it must succeed. */
  succeed(call: CniCall): Promise<CniAnswer>;
  start(call: CniCall): RunningPlugin;
  callOverSocket(call: CniCall): Promise<CniAnswer>;
  /** Starts the agent again without orders, and waits until it has recovered and settled. */
  restart(): Promise<void>;
  /** Resolves when the links that were taken off the network are deleted, which the agent does a little later. */
  settle(): Promise<void>;
  /** Resolves when so many plugins wait in the queue of an agent that does not run. */
  untilQueued(count: number): Promise<void>;
  /** Host, files of the agent, and the namespaces of the pods given. */
  snapshot(...pods: readonly TestNamespace[]): Promise<Snapshot>;
  close(): Promise<void>;
}

export interface FaultHostOptions {
  readonly name: string;
  readonly single?: boolean;
  readonly agent?: AgentOptions;
}

export const agentEntry: readonly string[] = [
  process.execPath,
  path.join(import.meta.dirname, 'agent-entry.js'),
];

/** Six IPv4 and seven IPv6 addresses, so that a lost one is missed at once; and a second network that stands by. */
export const tinyPools = {
  // Nothing happens by itself, and what is released can be had again.
  reconcileInterval: '1h',
  watchDrift: false,
  coolDown: '0s',
  networks: [
    {
      name: 'default',
      pools: [
        { cidr: '10.66.0.0/29', blockSize: 29 },
        { cidr: 'fd66::/125', blockSize: 125 },
      ],
    },
    { name: 'bystander', pools: [{ cidr: '10.77.0.0/26' }, { cidr: 'fd77::/122' }] },
  ],
} as const;

/** How many pods the pools of {@link tinyPools} hold. */
export const tinyPoolSize = 6;

export async function createFaultHost(options: FaultHostOptions): Promise<FaultHost> {
  const host = await createPrivateHost({ name: options.name, world: true });
  try {
    return await furnish(host, options);
  } catch (error) {
    await host.close();
    throw error;
  }
}

async function furnish(host: PrivateHost, options: FaultHostOptions): Promise<FaultHost> {
  const orders = path.join(host.directory, 'orders');
  const injector = openFaultInjector(orders);
  injector.clear();
  const agent = await startAgent(host, {
    config: tinyPools,
    ...options.agent,
    entry: agentEntry,
    env: {
      PODWIRE_FAULTS: orders,
      PODWIRE_SINGLE: options.single === true ? '1' : '0',
      ...options.agent?.env,
    },
  });
  const links = watchLinks(host);
  const start = (call: CniCall): RunningPlugin => startPlugin(host, agent.socket, call);
  const self: FaultHost = {
    host,
    agent,
    injector,
    api: openApi(agent.apiSocket),
    start,
    call: (call) => start(call).answer,
    succeed: async (call) => succeeded(call, await self.call(call)),
    callOverSocket: (call) => callOverSocket(agent.socket, call),
    async restart() {
      injector.clear();
      await agent.start();
      await self.settle();
    },
    settle: () => untilLinksDeleted(links),
    untilQueued: (count) => untilQueued(host, agent.socket, count),
    snapshot: (...pods) => takeWholeSnapshot(self, pods),
    close: () => host.close(),
  };
  return self;
}

/** The links of a host, read without starting a program: this is asked often. */
function watchLinks(host: PrivateHost): () => readonly Link[] {
  const namespace = openNamespace(host.namespace.path);
  const connection = openRouteConnection({ namespace: namespace });
  host.defer(() => {
    connection.close();
    namespace.close();
  });
  return () => listLinks(connection);
}

/** Groups of links that wait to be deleted: "PW" and "de.." (packages/engine/src/marks.ts). */
export const isMarkedForDeletion = (group: number): boolean => group >>> 8 === 0x5057_de;

/** The kernel reports no link that will be deleted, so this looks every few milliseconds. */
async function untilLinksDeleted(links: () => readonly Link[]): Promise<void> {
  const end = performance.now() + 10_000;
  for (;;) {
    const left = links().filter(({ group }) => isMarkedForDeletion(group ?? 0));
    if (left.length === 0) return;
    assert.ok(performance.now() < end, `links are never deleted: ${left.map(({ name }) => name).join(' ')}`);
    await setTimeout(5);
  }
}

async function untilQueued(host: PrivateHost, socket: string, count: number): Promise<void> {
  const end = performance.now() + 10_000;
  const queued = async (): Promise<number> => {
    const line = await host.run(['ss', '-H', '--unix', '--listening', 'src', socket]);
    return Number(line.trim().split(/\s+/)[2]); // Recv-Q: ss(8)
  };
  while ((await queued()) < count) assert.ok(performance.now() < end, 'the plugin does not connect');
}

function succeeded(call: CniCall, answer: CniAnswer): CniAnswer {
  assert.ok(answer.ok, `${call.command} ${call.id ?? ''}: ${answer.body}`);
  return answer;
}

async function takeWholeSnapshot(
  { host, agent }: FaultHost,
  pods: readonly TestNamespace[],
): Promise<Snapshot> {
  const [node, ...inside] = await Promise.all([
    takeSnapshot(host.namespace, { files: [agent.stateDirectory] }),
    ...pods.map((pod) => takeSnapshot(pod)),
  ]);
  const sections = inside.flatMap((snapshot, index) =>
    Object.entries(snapshot).map(([section, content]) => [`pod ${index + 1} ${section}`, content] as const),
  );
  return { ...node, ...Object.fromEntries(sections) };
}

/** Waits for the end of an agent that has orders to die. @throws Error after 10 s */
export async function untilDead(agent: Agent): Promise<Exit> {
  const deadline = AbortSignal.timeout(10_000);
  return await new Promise<Exit>((resolve, reject) => {
    deadline.addEventListener('abort', () => reject(new Error('the agent lives on')), { once: true });
    agent.exited().then(resolve, reject);
  });
}

/** Waits until an agent that has orders to freeze does not run any more. @throws Error after 10 s */
export async function untilStopped({ pid }: Agent): Promise<void> {
  const end = performance.now() + 10_000;
  const isStopped = (states: readonly string[]): boolean =>
    states.length > 0 && states.every((state) => state === 'T');
  // Only a parent that waits is told of a stop.
  while (!isStopped(readThreadStates(pid))) {
    assert.ok(performance.now() < end, 'the agent does not stop');
    await setTimeout(2);
  }
}

/** The file of an endpoint's record, whatever its phase. */
export function recordFile(agent: Pick<Agent, 'stateDirectory'>, key: string): string {
  const directory = path.join(agent.stateDirectory, 'endpoints');
  const name = fs.readdirSync(directory).find((each) => each.startsWith(`${key}.`));
  assert.ok(name !== undefined, `there is no record of ${key}`);
  return path.join(directory, name);
}

/** Leases of the agent that belong to `key`, sorted. */
export async function leasesOf(api: AgentApi, key: string): Promise<string[]> {
  const leases = await api.leases();
  return leases
    .filter(({ owner }) => owner === key)
    .map(({ address }) => address)
    .sort();
}

/** Runs `work`; an error says in which case it came up, and shows the end of the agent's log. */
export async function inCase<T>(
  what: string,
  { agent }: Pick<FaultHost, 'agent'>,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    const lines = agent.log().trimEnd().split('\n').slice(-15).join('\n');
    throw new Error(`${what}: ${(cause as Error).message}\n${lines}`, { cause });
  }
}
