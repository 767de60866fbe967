/** A private host with an agent that a test can kill at any step, and everything that is compared afterwards. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import {
  type Agent,
  type AgentOptions,
  createPrivateHost,
  type PrivateHost,
  type Snapshot,
  startAgent,
  takeSnapshot,
  type TestNamespace,
} from '@podwire/testkit';
import { type AgentApi, openApi } from './api.js';
import { callOverSocket, type CniAnswer, type CniCall, type RunningPlugin, startPlugin } from './calls.js';
import { type FaultDesk, openFaultDesk } from './fault-orders.js';

export interface FaultHost {
  readonly host: PrivateHost;
  readonly agent: Agent;
  readonly api: AgentApi;
  readonly desk: FaultDesk;
  /** Through the real plugin. */
  call(call: CniCall): Promise<CniAnswer>;
  /** As `call`, and it must succeed. */
  succeed(call: CniCall): Promise<CniAnswer>;
  start(call: CniCall): RunningPlugin;
  callOverSocket(call: CniCall): Promise<CniAnswer>;
  /** Starts the agent again without orders and waits until what was doomed before is gone from the kernel. */
  restart(): Promise<void>;
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
  const desk = openFaultDesk(orders);
  desk.clear();
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
  await desk.reached('reap:end');
  const start = (call: CniCall): RunningPlugin => startPlugin(host, agent.socket, call);
  const self: FaultHost = {
    host,
    agent,
    desk,
    api: openApi(agent.apiSocket),
    start,
    call: (call) => start(call).answer,
    succeed: async (call) => succeeded(call, await self.call(call)),
    callOverSocket: (call) => callOverSocket(agent.socket, call),
    async restart() {
      desk.clear();
      await agent.start();
      await desk.reached('reap:end');
    },
    snapshot: (...pods) => takeWholeSnapshot(self, pods),
    close: () => host.close(),
  };
  return self;
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

/** The file of an endpoint's record, whatever its phase. */
export function recordFile(agent: Pick<Agent, 'stateDirectory'>, key: string): string {
  const directory = path.join(agent.stateDirectory, 'endpoints');
  const name = fs.readdirSync(directory).find((each) => each.startsWith(`${key}.`));
  assert.ok(name !== undefined, `there is no record of ${key}`);
  return path.join(directory, name);
}

/** What of the agent's leases belongs to `key`, sorted. */
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
