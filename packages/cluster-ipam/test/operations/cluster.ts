/** A cluster in a store in memory, written as nodes would write it. */
import {
  type UnreachableNode,
  unreachableKind,
  type Block,
  blockKind,
  keysBelow,
  type AllocationRecord,
  allocationRecordKind,
  type BorrowRequest,
  borrowRequestKind,
  nodeKind,
  poolKind,
  nodeLeaseKind,
  type Workload,
  workloadKind,
} from '@podwire/cluster-state';
import type { Clock } from '@podwire/platform';
import { encodeObject, type Store, type StoreLimits } from '@podwire/store';
import { createMemoryServer } from '@podwire/store/memory';
import { buildPool, type ClusterAccess, type PoolInput } from '../../src/operations/index.js';

export const hour = 3_600_000;

/** Time goes on when a caller sleeps, and when a test says so. */
export function createTestClock(start = 1_000_000_000): Clock & { advance(milliseconds: number): void } {
  let time = start;
  return {
    now: () => time,
    elapsed: () => time,
    async sleep(milliseconds, signal) {
      signal.throwIfAborted();
      time += milliseconds;
      await Promise.resolve();
    },
    advance: (milliseconds) => void (time += milliseconds),
  };
}

export function createTestCluster(limits: Partial<StoreLimits> = {}) {
  const clock = createTestClock();
  const server = createMemoryServer({ clock, limits });
  const store = server.connect();
  const keys = keysBelow('/podwire');
  const access: ClusterAccess = { store, keys, clock };
  const signal: AbortSignal = new AbortController().signal;
  return {
    access,
    store,
    server,
    keys,
    clock,
    signal,
    /** As it would be stored, without looking at other pools. */
    pool: (input: Partial<PoolInput> & { cidr: string }) => {
      const pool = buildPool({ name: 'main', network: 'default', ...input }, []);
      return store.put(keys.pool(pool.name), encodeObject(poolKind, { ...pool, ...input }));
    },
    node: async (name: string, { present = true } = {}) => {
      const instance = `${name}-1`;
      const node = {
        name,
        instance,
        version: '0.1.0',
        labels: {},
        addresses: { ipv4: '192.0.2.1/24' },
        mtu: 1500,
        registeredAt: clock.now(),
      };
      await store.put(keys.node(name), encodeObject(nodeKind, node));
      if (!present) return;
      const presence = { node: name, instance, since: clock.now() };
      await store.put(keys.nodeLease(name), encodeObject(nodeLeaseKind, presence));
    },
    leave: (name: string) => store.delete(keys.nodeLease(name)),
    absence: (node: string, more: Partial<UnreachableNode> = {}) => {
      const absence = { node, instance: `${node}-1`, since: clock.now(), ...more };
      return store.put(keys.unreachable(node), encodeObject(unreachableKind, absence));
    },
    block: (cidr: string, node: string | undefined, more: Partial<Block> = {}) => {
      const owner = node === undefined ? {} : { node, instance: `${node}-1` };
      const block: Block = {
        cidr,
        ...owner,
        state: 'confirmed',
        claimedAt: clock.now(),
        loans: [],
        ...more,
      };
      return store.put(keys.block(cidr), encodeObject(blockKind, block));
    },
    /** A block whose claimer is unknown. */
    importedBlock: (cidr: string, node: string) =>
      store.put(
        keys.block(cidr),
        encodeObject(blockKind, { cidr, node, state: 'confirmed', claimedAt: clock.now(), loans: [] }),
      ),
    /** Entries as `ADDRESS` or `ADDRESS=POD`. */
    record: (
      cidr: string,
      node: string,
      entries: readonly string[],
      more: Partial<AllocationRecord> = {},
    ) => {
      const value: AllocationRecord = {
        cidr,
        node,
        entries: entries.map((text) => {
          const [address = '', pod = `default/p-${address.replaceAll(/[.:]/g, '-')}`] = text.split('=');
          return { address, owner: `${node}/${pod}`, pod, since: clock.now() };
        }),
        reportedAt: clock.now(),
        ...more,
      };
      return store.put(keys.allocationRecord(cidr, node), encodeObject(allocationRecordKind, value));
    },
    workload: (name: string, more: Partial<Workload> = {}) => {
      const workload: Workload = {
        network: 'default',
        namespace: 'default',
        name,
        addresses: [],
        pools: [],
        sticky: false,
        assigned: {},
        ...more,
      };
      return store.put(keys.workload('default', 'default', name), encodeObject(workloadKind, workload));
    },
    request: (block: string, node: string, more: Partial<BorrowRequest> = {}) => {
      const request: BorrowRequest = { block, node, askedAt: clock.now(), ...more };
      return store.put(keys.borrowRequest(block, node, 'r1'), encodeObject(borrowRequestKind, request));
    },
    keysBelow: async (folder: string) => {
      const { items } = await store.list(`${keys.root}/${folder}`);
      return items.map(({ key }) => key.slice(keys.root.length + 1));
    },
  };
}

export type TestCluster = ReturnType<typeof createTestCluster>;

/** Two nodes that are up, one that is cut off, each with a block and pods; one address is borrowed; one workload is sticky. */
export async function createHealthy(): Promise<TestCluster> {
  const cluster = createTestCluster();
  const { pool, node, block, record, absence, workload, clock } = cluster;
  await pool({ cidr: '10.244.0.0/16' });
  for (const name of ['n1', 'n2', 'n3']) await node(name, { present: name !== 'n3' });
  await absence('n3');
  await block('10.244.0.0/26', 'n1', { loans: [{ address: '10.244.0.9', node: 'n2' }] });
  await block('10.244.0.64/26', 'n2');
  await block('10.244.0.128/26', 'n3');
  await record('10.244.0.0/26', 'n1', ['10.244.0.5', '10.244.0.6']);
  await record('10.244.0.0/26', 'n2', ['10.244.0.9']);
  await record('10.244.0.64/26', 'n2', ['10.244.0.70']);
  await record('10.244.0.128/26', 'n3', ['10.244.0.130']);
  await workload('db-*', { sticky: true, assigned: { 'db-0': ['10.244.0.77'] } });
  clock.advance(hour);
  return cluster;
}

/** The error of a call that must fail. */
export async function failureOf(work: Promise<unknown>): Promise<Error & { code?: string }> {
  try {
    await work;
  } catch (error) {
    return error as Error & { code?: string };
  }
  throw new Error('it did not fail');
}

/** The store, where something happens after each listing. */
export function disturb(store: Store, happens: () => Promise<unknown>): Store {
  return {
    kind: store.kind,
    limits: store.limits,
    get: (key, options) => store.get(key, options),
    put: (key, value, options) => store.put(key, value, options),
    delete: (key, options) => store.delete(key, options),
    transact: (transaction, options) => store.transact(transaction, options),
    watch: (prefix, options) => store.watch(prefix, options),
    grantLease: (ttl, options) => store.grantLease(ttl, options),
    close: () => store.close(),
    async list(prefix, options) {
      const listing = await store.list(prefix, options);
      await happens();
      return listing;
    },
  };
}
