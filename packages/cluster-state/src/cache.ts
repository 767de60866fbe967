/** The part of the store that every node follows, in memory: pools, blocks, nodes, workloads, borrow requests. */
import { containsPrefix, hostPrefix, parseAddress, parsePrefix, type Prefix } from '@podwire/addresses';
import type { Log } from '@podwire/platform';
import type { Revision, Store } from '@podwire/store';
import { BlockIndex } from './block-index.js';
import { type Changes, Informer, ObjectCache, type Stored } from './informer.js';
import { folders, type Keys } from './keys.js';
import {
  type Block,
  blockKind,
  type BorrowRequest,
  borrowRequestKind,
  type Node,
  nodeKind,
  type Pool,
  poolKind,
  type Workload,
  workloadKind,
} from './kinds.js';

type Topic = 'pools' | 'blocks' | 'nodes' | 'workloads' | 'borrowRequests';

/** Blocks by cidr, pools and nodes by name, the others by key. */
export type CacheChange = Changes<Topic>;

export interface ClusterCache {
  readonly pools: ReadonlyMap<string, Stored<Pool>>;
  /** By cidr. */
  readonly blocks: ReadonlyMap<string, Stored<Block>>;
  readonly nodes: ReadonlyMap<string, Stored<Node>>;
  /** By key. */
  readonly workloads: ReadonlyMap<string, Stored<Workload>>;
  /** By key. */
  readonly borrowRequests: ReadonlyMap<string, Stored<BorrowRequest>>;
  /** Objects that cannot be decoded, by key, with the reason; the last one that could be stays in the maps. */
  readonly unreadable: ReadonlyMap<string, string>;
  /** Cidrs of the blocks that the node owns, in order. Costs what it returns. */
  blocksOf(node: string): readonly string[];
  /** Addresses that the node borrows. Costs what it returns. */
  borrowedBy(node: string): readonly string[];
  /** The pool whose cidr contains this address or prefix. */
  poolAround(cidr: string): Stored<Pool> | undefined;
  /** Resolves with the first snapshot. */
  readonly synced: Promise<void>;
  /** True while the watch is connected to the store. */
  readonly connected: boolean;
  /** Adds the result of an own write before the watch delivers it; see {@link Informer.note}. */
  note(key: string, value: unknown, revision: Revision): void;
  /** As {@link note}, for an own deletion. */
  noteGone(key: string, revision: Revision): void;
  /** Called after each batch, and when `connected` changes. @returns how to unsubscribe */
  onChange(listener: (change: CacheChange) => void): () => void;
  /** Resolves when the cache is at this revision or later. @throws the signal's reason */
  reached(revision: Revision, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

export interface ClusterCacheOptions {
  readonly store: Store;
  readonly keys: Keys;
  readonly log: Log;
}

/** Follows the shared part of the store until it is closed. */
export function openClusterCache({ store, keys, log }: ClusterCacheOptions): ClusterCache {
  const index = new BlockIndex();
  const caches = createCaches(keys, index);
  const at = (topic: Topic) => ({ prefix: `${keys.root}/${folders[topic]}`, cache: caches[topic] });
  const informer = new Informer<Topic>({
    store,
    prefix: `${keys.root}/shared/`,
    folders: {
      pools: at('pools'),
      blocks: at('blocks'),
      nodes: at('nodes'),
      workloads: at('workloads'),
      borrowRequests: at('borrowRequests'),
    },
    log,
  });
  let poolPrefixes: readonly (readonly [Prefix, string])[] | undefined;
  informer.onChange(({ pools }) => {
    if (pools.size > 0) poolPrefixes = undefined;
  });
  return {
    pools: caches.pools.objects,
    blocks: caches.blocks.objects,
    nodes: caches.nodes.objects,
    workloads: caches.workloads.objects,
    borrowRequests: caches.borrowRequests.objects,
    unreadable: informer.unreadable,
    blocksOf: (node) => index.blocksOf(node),
    borrowedBy: (node) => index.borrowedBy(node),
    poolAround(cidr) {
      const wanted = cidr.includes('/') ? parsePrefix(cidr) : hostPrefix(parseAddress(cidr));
      poolPrefixes ??= sortPools(caches.pools.objects);
      const found = poolPrefixes.find(([prefix]) => containsPrefix(prefix, wanted));
      return found === undefined ? undefined : caches.pools.objects.get(found[1]);
    },
    synced: informer.synced,
    get connected() {
      return informer.connected;
    },
    note: (key, value, revision) => informer.note(key, value, revision),
    noteGone: (key, revision) => informer.noteGone(key, revision),
    onChange: (listener) => informer.onChange(listener),
    reached: (revision, signal) => informer.reached(revision, signal),
    close: () => informer.close(),
  };
}

function createCaches(keys: Keys, index: BlockIndex) {
  return {
    pools: new ObjectCache({
      kind: poolKind,
      nameOf: ({ name }) => name,
      keyOf: ({ name }) => keys.pool(name),
    }),
    blocks: new ObjectCache({
      kind: blockKind,
      nameOf: ({ cidr }) => cidr,
      keyOf: ({ cidr }) => keys.block(cidr),
      onChange: (before, after) => index.change(before, after),
    }),
    nodes: new ObjectCache({
      kind: nodeKind,
      nameOf: ({ name }) => name,
      keyOf: ({ name }) => keys.node(name),
    }),
    workloads: new ObjectCache({ kind: workloadKind, nameOf: (_, key) => key }),
    borrowRequests: new ObjectCache({ kind: borrowRequestKind, nameOf: (_, key) => key }),
  };
}

/** The longest prefix first: pools do not overlap, but for a moment they do while one is split. */
function sortPools(pools: ReadonlyMap<string, Stored<Pool>>): (readonly [Prefix, string])[] {
  return [...pools.values()]
    .map(({ value }) => [parsePrefix(value.cidr), value.name] as const)
    .sort(([a], [b]) => b.length - a.length);
}
