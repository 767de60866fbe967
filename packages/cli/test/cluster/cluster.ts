/** Command lines on a cluster in memory, which nodes have written into. */
import {
  type UnreachableNode,
  unreachableKind,
  type Block,
  blockKind,
  keysBelow,
  allocationRecordKind,
  nodeKind,
  nodeLeaseKind,
} from '@podwire/cluster-state';
import { encodeObject, type StoreSpec } from '@podwire/store';
import { createMemoryServer } from '@podwire/store/memory';
import { compact } from '@podwire/platform';
import { type Run, run } from '../support.js';

const start = Date.parse('2026-03-01T12:00:00Z');
const minute = 60_000;

export function createCluster() {
  let time = start;
  const clock = {
    now: () => time,
    elapsed: () => time,
    sleep: async (milliseconds: number, signal: AbortSignal): Promise<void> => {
      signal.throwIfAborted();
      time += milliseconds;
      await Promise.resolve();
    },
  };
  const server = createMemoryServer({ clock });
  const store = server.connect();
  const keys = keysBelow('/podwire');
  const opened: StoreSpec[] = [];
  const openStore = (spec: StoreSpec) => {
    opened.push(spec);
    return Promise.resolve(server.connect());
  };
  const podwire = (
    line: string | readonly string[],
    options: { env?: Record<string, string>; answers?: readonly string[] } = {},
  ): Promise<Run> => {
    const words = typeof line === 'string' ? line.split(' ') : line;
    const env = { PODWIRE_STORE: 'etcd://store:2379', ...options.env };
    const { answers } = options;
    return run(words, { env, now: time, cluster: { openStore, clock }, ...compact({ answers }) });
  };
  return {
    store,
    keys,
    opened,
    podwire,
    advance: (milliseconds: number) => void (time += milliseconds),
    node: async (name: string, { present = true } = {}) => {
      const instance = `${name}-1`;
      const node = {
        name,
        instance,
        version: '0.1.0',
        labels: { zone: 'a' },
        addresses: { ipv4: '192.0.2.1/24' },
        mtu: 1500,
        tunnel: { mac: '02:00:00:00:00:01', ipv4: '10.244.0.1' },
        registeredAt: time,
      };
      await store.put(keys.node(name), encodeObject(nodeKind, node));
      if (!present) return;
      await store.put(
        keys.nodeLease(name),
        encodeObject(nodeLeaseKind, { node: name, instance, since: time }),
      );
    },
    leave: (name: string) => store.delete(keys.nodeLease(name)),
    absence: (node: string) => {
      const absence: UnreachableNode = { node, instance: `${node}-1`, since: time };
      return store.put(keys.unreachable(node), encodeObject(unreachableKind, absence));
    },
    block: (cidr: string, node: string, more: Partial<Block> = {}) => {
      const block: Block = {
        cidr,
        node,
        instance: `${node}-1`,
        state: 'confirmed',
        claimedAt: time,
        loans: [],
        ...more,
      };
      return store.put(keys.block(cidr), encodeObject(blockKind, block));
    },
    record: (cidr: string, node: string, pods: Readonly<Record<string, string>>) => {
      const entries = Object.entries(pods).map(([address, pod]) => ({
        address,
        owner: `c-${pod}/eth0`,
        pod,
        since: time - 5 * minute,
      }));
      return store.put(
        keys.allocationRecord(cidr, node),
        encodeObject(allocationRecordKind, { cidr, node, entries, reportedAt: time }),
      );
    },
  };
}

export type TestCluster = ReturnType<typeof createCluster>;

/** A pool, two nodes with pods, one of which has borrowed an address. */
export async function createUsedCluster(): Promise<TestCluster> {
  const cluster = createCluster();
  await cluster.podwire('pool create main 10.244.0.0/16 --reserved 10.244.0.0/28');
  await cluster.node('n1');
  await cluster.node('n2');
  await cluster.block('10.244.0.0/26', 'n1', { loans: [{ address: '10.244.0.33', node: 'n2' }] });
  await cluster.block('10.244.1.0/26', 'n2');
  await cluster.record('10.244.0.0/26', 'n1', { '10.244.0.20': 'default/web' });
  await cluster.record('10.244.0.0/26', 'n2', { '10.244.0.33': 'default/db-0' });
  cluster.advance(minute);
  return cluster;
}
