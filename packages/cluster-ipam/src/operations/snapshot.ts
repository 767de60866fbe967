/** All of the cluster at one revision, as objects. */
import {
  type UnreachableNode,
  unreachableKind,
  type Block,
  blockKind,
  folders,
  type Keys,
  type AllocationRecord,
  allocationRecordKind,
  type BorrowRequest,
  borrowRequestKind,
  type Node,
  nodeKind,
  type Pool,
  poolKind,
  type NodeLease,
  nodeLeaseKind,
  type Stored,
  type Workload,
  workloadKind,
} from '@podwire/cluster-state';
import { containsPrefix, type Prefix } from '@podwire/addresses';
import { describeError } from '@podwire/errors';
import { decodeObject, type Item, type Listing, type ObjectKind, type Revision } from '@podwire/store';
import type { ClusterAccess } from './access.js';
import { prefixFrom } from './text.js';
import { inTurns } from './turns.js';

export interface ClusterSnapshot {
  readonly revision: Revision;
  /** By name. */
  readonly pools: ReadonlyMap<string, Stored<Pool>>;
  /** By cidr. */
  readonly blocks: ReadonlyMap<string, Stored<Block>>;
  /** By name. */
  readonly nodes: ReadonlyMap<string, Stored<Node>>;
  /** By node. */
  readonly nodeLeases: ReadonlyMap<string, Stored<NodeLease>>;
  /** By node. */
  readonly unreachable: ReadonlyMap<string, Stored<UnreachableNode>>;
  readonly allocationRecords: readonly Stored<AllocationRecord>[];
  readonly workloads: readonly Stored<Workload>[];
  readonly borrowRequests: readonly Stored<BorrowRequest>[];
  readonly unreadable: readonly Unreadable[];
}

/** Everything below the root: one call, however much it is. What is large is read in turns, beside other work of the process. */
export async function readCluster(
  { store, keys }: ClusterAccess,
  signal: AbortSignal,
): Promise<ClusterSnapshot> {
  const { items, revision } = await store.list(`${keys.root}/`, { signal });
  const reader = createReader(keys);
  await inTurns(items, (item) => reader.take(item));
  return reader.end(revision);
}

export function decodeCluster(keys: Keys, { items, revision }: Listing): ClusterSnapshot {
  const reader = createReader(keys);
  for (const item of items) reader.take(item);
  return reader.end(revision);
}

interface Reader {
  take(item: Item): void;
  end(revision: Revision): ClusterSnapshot;
}

function createReader(keys: Keys): Reader {
  const unreadable: Unreadable[] = [];
  const readers: FolderReader[] = [];
  const readFolder = <T>(folder: keyof typeof folders, kind: ObjectKind<T>): Stored<T>[] => {
    const objects: Stored<T>[] = [];
    const take = (item: Item): void => void objects.push(...decode(kind, item, unreadable));
    readers.push({ prefix: `${keys.root}/${folders[folder]}`, take });
    return objects;
  };
  const by = <T>(stored: readonly Stored<T>[], name: (value: T) => string): Map<string, Stored<T>> =>
    new Map(stored.map((each) => [name(each.value), each]));
  const pools = readFolder('pools', poolKind);
  const blocks = readFolder('blocks', blockKind);
  const nodes = readFolder('nodes', nodeKind);
  const nodeLeases = readFolder('nodeLeases', nodeLeaseKind);
  const unreachable = readFolder('unreachable', unreachableKind);
  const allocationRecords = readFolder('allocationRecords', allocationRecordKind);
  const workloads = readFolder('workloads', workloadKind);
  const borrowRequests = readFolder('borrowRequests', borrowRequestKind);
  return {
    take: (item) => readers.find(({ prefix }) => item.key.startsWith(prefix))?.take(item),
    end: (revision) => ({
      revision,
      pools: by(pools, ({ name }) => name),
      blocks: by(blocks, ({ cidr }) => cidr),
      nodes: by(nodes, ({ name }) => name),
      nodeLeases: by(nodeLeases, ({ node }) => node),
      unreachable: by(unreachable, ({ node }) => node),
      allocationRecords,
      workloads,
      borrowRequests,
      unreadable,
    }),
  };
}

interface FolderReader {
  readonly prefix: string;
  take(item: Item): void;
}

interface Unreadable {
  readonly key: string;
  readonly reason: string;
  readonly revision: Revision;
}

function decode<T>(
  kind: ObjectKind<T>,
  { key, value, revision }: Item,
  unreadable: Unreadable[],
): Stored<T>[] {
  try {
    return [{ key, value: decodeObject(kind, key, value), revision }];
  } catch (error) {
    unreadable.push({ key, reason: describeError(error), revision });
    return [];
  }
}

/** The pool whose cidr holds the prefix. */
export function poolAround(
  pools: ReadonlyMap<string, Stored<Pool>>,
  prefix: Prefix,
): Stored<Pool> | undefined {
  for (const pool of pools.values()) {
    if (containsPrefix(prefixFrom(pool.value.cidr), prefix)) return pool;
  }
  return undefined;
}

/** Blocks inside a pool, whatever their size, in order of cidrs as keys have them. */
export function blocksWithin({ blocks }: Pick<ClusterSnapshot, 'blocks'>, cidr: string): Stored<Block>[] {
  const pool = prefixFrom(cidr);
  return [...blocks.values()].filter(({ value }) => containsPrefix(pool, prefixFrom(value.cidr)));
}

/** Allocation records whose block lies inside a pool. */
export function recordsWithin(
  { allocationRecords }: Pick<ClusterSnapshot, 'allocationRecords'>,
  cidr: string,
): Stored<AllocationRecord>[] {
  const pool = prefixFrom(cidr);
  return allocationRecords.filter(({ value }) => containsPrefix(pool, prefixFrom(value.cidr)));
}
