/** All of the cluster at one revision, as objects. */
import {
  type Absence,
  absenceKind,
  type Block,
  blockKind,
  folders,
  type Keys,
  type Ledger,
  ledgerKind,
  type LoanRequest,
  loanRequestKind,
  type Node,
  nodeKind,
  type Pool,
  poolKind,
  type Presence,
  presenceKind,
  type Stored,
  type Workload,
  workloadKind,
} from '@podwire/cluster';
import { containsPrefix, type Prefix } from '@podwire/addresses';
import { describeError } from '@podwire/errors';
import { decodeObject, type Item, type Listing, type ObjectKind, type Revision } from '@podwire/store';
import type { ClusterAccess } from './access.js';
import { prefixFrom } from './text.js';

export interface ClusterSnapshot {
  readonly revision: Revision;
  /** By name. */
  readonly pools: ReadonlyMap<string, Stored<Pool>>;
  /** By cidr. */
  readonly blocks: ReadonlyMap<string, Stored<Block>>;
  /** By name. */
  readonly nodes: ReadonlyMap<string, Stored<Node>>;
  /** By node. */
  readonly presences: ReadonlyMap<string, Stored<Presence>>;
  /** By node. */
  readonly absences: ReadonlyMap<string, Stored<Absence>>;
  readonly ledgers: readonly Stored<Ledger>[];
  readonly workloads: readonly Stored<Workload>[];
  readonly loanRequests: readonly Stored<LoanRequest>[];
  readonly unreadable: readonly {
    readonly key: string;
    readonly reason: string;
    readonly revision: Revision;
  }[];
}

/** Everything below the root: one call, however much it is. */
export async function readCluster(
  { store, keys }: ClusterAccess,
  signal: AbortSignal,
): Promise<ClusterSnapshot> {
  return decodeCluster(keys, await store.list(`${keys.root}/`, { signal }));
}

export function decodeCluster(keys: Keys, { items, revision }: Listing): ClusterSnapshot {
  const unreadable: { key: string; reason: string; revision: Revision }[] = [];
  const read = <T>(folder: keyof typeof folders, kind: ObjectKind<T>): Stored<T>[] => {
    const prefix = `${keys.root}/${folders[folder]}`;
    return items.flatMap((item) => (item.key.startsWith(prefix) ? decode(kind, item, unreadable) : []));
  };
  const by = <T>(stored: readonly Stored<T>[], name: (value: T) => string): Map<string, Stored<T>> =>
    new Map(stored.map((each) => [name(each.value), each]));
  return {
    revision,
    pools: by(read('pools', poolKind), ({ name }) => name),
    blocks: by(read('blocks', blockKind), ({ cidr }) => cidr),
    nodes: by(read('nodes', nodeKind), ({ name }) => name),
    presences: by(read('presences', presenceKind), ({ node }) => node),
    absences: by(read('absences', absenceKind), ({ node }) => node),
    ledgers: read('ledgers', ledgerKind),
    workloads: read('workloads', workloadKind),
    loanRequests: read('loanRequests', loanRequestKind),
    unreadable,
  };
}

function decode<T>(
  kind: ObjectKind<T>,
  { key, value, revision }: Item,
  unreadable: { key: string; reason: string; revision: Revision }[],
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

/** Ledgers whose block lies inside a pool. */
export function ledgersWithin({ ledgers }: Pick<ClusterSnapshot, 'ledgers'>, cidr: string): Stored<Ledger>[] {
  const pool = prefixFrom(cidr);
  return ledgers.filter(({ value }) => containsPrefix(pool, prefixFrom(value.cidr)));
}
