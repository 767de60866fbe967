/** Machines with real agents, a real etcd, and what the tests of faults want to know of them. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { completePool, type Pool, poolKind, type PoolPart } from '@podwire/cluster-state';
import { encodeObject } from '@podwire/store';
import {
  type ClusterHost,
  type ClusterHosts,
  createClusterHosts,
  eventually,
  pings,
  type RunningPing,
  startAgent,
  startPing,
} from '@podwire/testkit';
import { type Etcd, type EtcdOptions, type EtcdSpec, startEtcd } from '@podwire/testkit/etcd';
import { openFaultInjector } from '@podwire/testkit/fault-injection';
import { type Journal, openJournal } from './journal.js';
import { type ClusterNode, type NodeCalls, openCalls, type Pod } from './node.js';
import { keys, readStore } from './store-view.js';

const podwire = path.resolve(import.meta.dirname, '../../../../bin/podwire');
export const agentEntry = [process.execPath, path.join(import.meta.dirname, 'agent-entry.js')];

export type ClusterPart = Readonly<Record<string, unknown>>;

export interface ClusterOptions {
  readonly name: string;
  readonly pools: readonly PoolPart[];
  readonly nodes: number;
  /** Machines in all; those after `nodes` have no agent. */
  readonly hosts?: number;
  readonly etcd?: EtcdOptions;
  readonly segmentOf?: (index: number) => number;
  /** The `cluster` part of a node's configuration. */
  readonly cluster?: (node: string, host: ClusterHost, store: EtcdSpec) => ClusterPart;
}

export interface Cluster {
  readonly hosts: ClusterHosts;
  readonly etcd: Etcd;
  readonly nodes: readonly ClusterNode[];
  readonly journal: Journal;
  putPool(pool: PoolPart): Promise<void>;
  configOf(node: string, index: number): Record<string, unknown>;
  /**
   * An agent on one of the machines.
   * @param timeout milliseconds; a minute when absent
   * @throws Error with its log when it does not serve until then; it goes on trying
   */
  startNode(name: string, index: number, timeout?: number): Promise<ClusterNode>;
  /** For one that does not serve yet. */
  callsOf(name: string, index: number): NodeCalls;
  /** The `podwire` of this checkout, where it reaches the store. */
  podwire(...parameters: readonly string[]): Promise<{ code: number | null; stdout: string; stderr: string }>;
  close(): Promise<void>;
}

export async function createCluster(options: ClusterOptions): Promise<Cluster> {
  const { name, nodes: count, hosts: machines = count, segmentOf = () => 0, cluster = () => ({}) } = options;
  const hosts = await createClusterHosts({ name, hosts: machines, segmentOf });
  let etcd: Etcd;
  try {
    etcd = await startEtcd({ namespace: hosts.middle, address: hosts.address, ...options.etcd });
  } catch (error) {
    await hosts.close();
    throw error;
  }
  const journal = openJournal();
  const close = (): Promise<void> => hosts.close().finally(() => etcd.close());
  const configOf = (node: string, index: number): Record<string, unknown> => ({
    nodeName: node,
    coolDown: '0s',
    networks: [{ name: 'default' }],
    cluster: {
      store: etcd.spec,
      lease: '2s',
      reportInterval: '100ms',
      ...cluster(node, hosts.hosts[index]!, etcd.spec),
    },
  });
  const putPool = async (pool: PoolPart): Promise<void> =>
    void (await etcd.control(['put', keys.pool(pool.name), encodeObject(poolKind, fillPool(pool))]));
  const startNode = async (node: string, index: number, timeout = 60_000): Promise<ClusterNode> => {
    const host = hosts.hosts[index]!;
    const orders = path.join(host.directory, 'faults');
    const faults = openFaultInjector(orders);
    const env = { PODWIRE_FAULTS: orders };
    const agent = await startAgent(host, { entry: agentEntry, config: configOf(node, index), env, timeout });
    return { ...openCalls({ name: node, host, agent, journal }), agent, faults };
  };
  const url = etcd.spec.endpoints.map((endpoint) => new URL(endpoint).host).join(',');
  try {
    for (const pool of options.pools) await putPool(pool);
    const indexes = Array.from({ length: count }, (_, index) => index);
    const nodes = await Promise.all(indexes.map((index) => startNode(`n${index + 1}`, index)));
    return {
      hosts,
      etcd,
      nodes,
      journal,
      putPool,
      configOf,
      startNode,
      callsOf(node, index) {
        const host = hosts.hosts[index]!;
        const at = (file: string): string => path.join(host.directory, 'agent', file);
        const agent = { socket: at('cni.sock'), apiSocket: at('api.sock') };
        return openCalls({ name: node, host, agent, journal });
      },
      async podwire(...parameters) {
        const env = { ...process.env, PODWIRE_STORE: `etcd://${url}` };
        // Passwords are in no URL.
        const place = etcd.spec.username === undefined ? [] : ['--config', nodes[0]!.agent.configFile];
        const running = hosts.middle.start([podwire, ...parameters, ...place], { env });
        const { code } = await running.exited;
        return { code, stdout: running.stdout(), stderr: running.stderr() };
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Small blocks, so that a test comes to the end of one. */
const fillPool = (part: PoolPart): Pool =>
  completePool({
    ...(part.cidr.includes(':') ? {} : { blockSize: 29 }),
    encapsulation: 'direct',
    borrowing: false,
    ...part,
  });

/** Between pods of different nodes, each to the next; `end` asserts that no packet was lost. */
export async function startTraffic(pods: readonly Pod[]): Promise<{ end(): Promise<number> }> {
  const pairs = pods.map((pod, index) => [pod, pods[(index + 1) % pods.length]!] as const);
  const running: RunningPing[] = [];
  for (const [from, { addresses }] of pairs) {
    for (const address of addresses) {
      await eventually(`${from.namespace.name} reaches ${address}`, () => pings(from.namespace, address));
      running.push(startPing(from.namespace, address));
    }
  }
  await Promise.all(running.map((ping) => ping.waitForAnswers(2)));
  return {
    async end() {
      await Promise.all(running.map((ping) => ping.waitForAnswers(2)));
      const reports = await Promise.all(running.map((ping) => ping.stop()));
      for (const { lost } of reports) assert.deepEqual(lost, []);
      return reports.reduce((sum, { received }) => sum + received, 0);
    },
  };
}

/** Until the store knows of every pod of every node what the node knows; then nothing may be wrong with the whole. */
export async function assertConverged(cluster: Cluster, nodes: readonly NodeCalls[]): Promise<void> {
  for (const node of nodes) await untilReported(node);
  await eventually('the allocationRecords are what the nodes have', async () => {
    const [there, here] = [await readAllocationRecords(cluster.etcd), await readEndpoints(nodes)];
    return there === here || `in the store\n${there}\non the nodes\n${here}`;
  });
  await assertSound(cluster);
  assert.deepEqual(cluster.journal.doubled(), []);
}

export async function untilReported(node: NodeCalls): Promise<void> {
  await eventually(`${node.name} is registered and has reported`, async () => {
    const { cluster } = await node.status();
    const { standing, store, unreported, fenced } = cluster;
    return standing === 'registered' && store.connected && unreported === 0 && !fenced
      ? true
      : JSON.stringify(cluster);
  });
}

/** `podwire ipam check` finds nothing. */
export async function assertSound(cluster: Cluster): Promise<void> {
  const { stdout, stderr } = await cluster.podwire('ipam', 'check', '-o', 'json');
  assert.notEqual(stdout, '', stderr);
  const { findings } = JSON.parse(stdout) as { findings: { message: string }[] };
  assert.deepEqual(
    findings.map(({ message }) => message),
    [],
  );
}

async function readAllocationRecords(etcd: Etcd): Promise<string> {
  const { allocationRecords } = await readStore(etcd);
  const lines = allocationRecords.flatMap(({ value: { node, entries } }) =>
    entries
      .filter(({ owner }) => !owner.startsWith('node:'))
      .map(({ address, owner }) => `${node} ${address} ${owner}`),
  );
  return lines.sort().join('\n');
}

async function readEndpoints(nodes: readonly NodeCalls[]): Promise<string> {
  const lines: string[] = [];
  for (const node of nodes) {
    for (const { key, addresses } of await node.endpoints())
      lines.push(...addresses.map((address) => `${node.name} ${address} ${key}`));
  }
  return lines.sort().join('\n');
}
