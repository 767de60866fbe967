/** Machines with real agents and one real etcd, for namespace tests. */
import assert from 'node:assert/strict';
import path from 'node:path';
import {
  type Block,
  blockKind,
  keysBelow,
  type Node,
  nodeKind,
  poolKind,
  type PoolPart,
} from '@podwire/cluster-state';
import { decodeObject, encodeObject, type ObjectKind } from '@podwire/store';
import {
  type Agent,
  assertPasses,
  type ClusterHost,
  type ClusterHosts,
  createClusterHosts,
  eventually,
  startAgent,
  type TestNamespace,
} from '@podwire/testkit';
import { type Etcd, startEtcd } from '@podwire/testkit/etcd';
import { askApi, callPlugin, type ClientAnswer } from './plugin-client.js';
import { fillPool } from './pools.js';

export const keys = keysBelow('/podwire');
export const agentEntry = [process.execPath, path.join(import.meta.dirname, '../faulty-agent.js')];

/** Milliseconds: a busy machine is no failure. */
export const startTimeout = 60_000;

export interface Pod {
  readonly namespace: TestNamespace;
  /** Without lengths, in the order of the answer. */
  readonly addresses: readonly string[];
}

export interface Machine {
  readonly name: string;
  readonly host: ClusterHost;
  readonly agent: Agent;
  call(command: string, pod: TestNamespace, config?: object): Promise<ClientAnswer>;
  /** Of a new pod. @throws AssertionError with the answer */
  add(): Promise<Pod>;
  del(pod: Pod): Promise<void>;
  status(): Promise<Status>;
}

/** The part of `/v1/status` that tests read. */
export interface Status {
  readonly ready: boolean;
  readonly problem: string | null;
  readonly networks: readonly { readonly settings: object }[];
  readonly cluster: {
    readonly standing: string;
    readonly store: { readonly connected: boolean };
    readonly holdings: readonly { readonly cidr: string }[];
    readonly unreported: number;
    readonly peers: {
      readonly count: number;
      readonly withProblems: number;
      readonly unreachable: readonly { readonly name: string }[] | null;
    };
    readonly problems: readonly string[];
    readonly tunnel: object | null;
  };
}

export interface Fixture {
  readonly hosts: ClusterHosts;
  readonly etcd: Etcd;
  readonly machines: readonly Machine[];
  /** Past all code under test. */
  put<T>(kind: ObjectKind<T>, key: string, value: T): Promise<void>;
  get<T>(kind: ObjectKind<T>, key: string): Promise<T | undefined>;
  putPool(pool: PoolPart): Promise<void>;
  node(name: string): Promise<Node | undefined>;
  block(cidr: string): Promise<Block | undefined>;
  delete(key: string): Promise<void>;
  /** Starts the agent of a machine that has none yet. Resolves when it is ready; until then its socket is {@link apiSocketOf}. */
  join(index: number): Promise<Machine>;
  /** Configuration of an agent of this fixture. */
  configOf(name: string): Record<string, unknown>;
  close(): Promise<void>;
}

type Config = Readonly<Record<string, unknown>>;

export interface FixtureOptions {
  readonly name: string;
  readonly pools: readonly PoolPart[];
  /** Machines with an agent; more have none. */
  readonly agents?: number;
  readonly hosts?: number;
  readonly segmentOf?: (index: number) => number;
  readonly mtu?: number;
  /** Of the `cluster` part of the configuration. */
  readonly cluster?: Readonly<Record<string, unknown>>;
  /** Of the configuration as a whole. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Makes a machine ready for its agent. Resolves with more of its configuration. */
  readonly prepare?: (
    host: ClusterHost,
    index: number,
    all: { readonly hosts: readonly ClusterHost[]; readonly etcd: Etcd },
  ) => Promise<Config>;
}

export async function createFixture(options: FixtureOptions): Promise<Fixture> {
  const {
    name,
    pools,
    agents = 2,
    hosts: count = agents,
    segmentOf = () => 0,
    mtu = 1500,
    cluster = {},
    config = {},
    prepare = () => Promise.resolve({}),
  } = options;
  const hosts = await createClusterHosts({ name, hosts: count, segmentOf, mtu });
  let etcd: Etcd;
  try {
    etcd = await startEtcd({ namespace: hosts.middle, address: hosts.address });
  } catch (error) {
    await hosts.close();
    throw error;
  }
  const close = async (): Promise<void> => {
    await hosts.close().finally(() => etcd.close());
  };
  const put = async <T>(kind: ObjectKind<T>, key: string, value: T): Promise<void> =>
    void (await etcd.control(['put', key, encodeObject(kind, value)]));
  const get = async <T>(kind: ObjectKind<T>, key: string): Promise<T | undefined> => {
    const text = (await etcd.control(['get', key, '--print-value-only'])).trim();
    return text === '' ? undefined : decodeObject(kind, key, text);
  };
  const putPool = (pool: PoolPart): Promise<void> => put(poolKind, keys.pool(pool.name), fillPool(pool));
  const configOf = (nodeName: string): Record<string, unknown> => ({
    nodeName,
    coolDown: '0s',
    networks: [{ name: 'default' }],
    cluster: { store: etcd.spec, lease: '2s', ...cluster },
    ...config,
  });
  const join = async (index: number): Promise<Machine> => {
    const host = hosts.hosts[index]!;
    const nodeName = `n${index + 1}`;
    const own = await prepare(host, index, { hosts: hosts.hosts, etcd });
    const started = { entry: agentEntry, config: merge(configOf(nodeName), own), timeout: startTimeout };
    return toMachine(nodeName, host, await startAgent(host, started));
  };
  try {
    for (const pool of pools) await putPool(pool);
    const machines = await Promise.all(Array.from({ length: agents }, (_, index) => join(index)));
    return {
      hosts,
      etcd,
      machines,
      put,
      get,
      putPool,
      node: (nodeName) => get(nodeKind, keys.node(nodeName)),
      block: (cidr) => get(blockKind, keys.block(cidr)),
      delete: async (key) => void (await etcd.control(['del', key])),
      join,
      configOf,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The parts `cluster` of both are put together. */
const merge = (config: Config, more: Config): Config => ({
  ...config,
  ...more,
  cluster: { ...(config['cluster'] as object), ...(more['cluster'] as object | undefined) },
});

/** The socket of a machine's agent, which may not be ready. */
export const apiSocketOf = ({ directory }: ClusterHost): string => path.join(directory, 'agent/api.sock');

export const askStatus = async (apiSocket: string): Promise<Status> =>
  (await askApi(apiSocket, '/v1/status')) as unknown as Status;

export function toMachine(name: string, host: ClusterHost, agent: Agent): Machine {
  const call = async (command: string, pod: TestNamespace, config: object = {}): Promise<ClientAnswer> => {
    const answer = await callPlugin(agent.socket, {
      command,
      id: pod.name,
      netns: pod.path,
      config: { ...config },
    });
    assert.ok(answer, `the agent of ${name} died:\n${agent.log()}`);
    return answer;
  };
  return {
    name,
    host,
    agent,
    call,
    async add() {
      const namespace = host.addPod();
      const { ok, json } = await call('ADD', namespace);
      assert.ok(ok, JSON.stringify(json));
      return { namespace, addresses: addressesOf(json) };
    },
    async del({ namespace }) {
      const { ok, json } = await call('DEL', namespace);
      assert.ok(ok, JSON.stringify(json));
      host.removePod(namespace);
    },
    status: () => askStatus(agent.apiSocket),
  };
}

export const addressesOf = (json: ClientAnswer['json']): string[] =>
  (json['ips'] as { address: string }[]).map(({ address }) => address.split('/')[0]!);

/** Every address of the pod, asked from there, over UDP. */
export async function assertReaches(from: TestNamespace, { namespace, addresses }: Pod): Promise<void> {
  for (const address of addresses) await assertPasses(from, namespace, address);
}

/** Until the machine has a way to every address of the pod through another machine. */
export async function untilRouted(machine: Machine, pod: Pod): Promise<void> {
  await eventually(`${machine.name} has routes to ${pod.addresses.join(' ')}`, async () => {
    const ways = await Promise.all(
      pod.addresses.map((address) =>
        machine.host.run(['ip', '-json', 'route', 'get', address]).catch(() => '[]'),
      ),
    );
    return ways.every((way) => (JSON.parse(way) as { gateway?: string }[]).some(isLed));
  });
}

/** Not by the default route, which leads to the router of the machines. */
function isLed({ gateway = '' }: { gateway?: string }): boolean {
  return gateway !== '' && !/^(10\.99\.\d+\.1|fd00:99:\d+::1)$/.test(gateway);
}
