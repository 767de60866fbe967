/** The part of the store that every node follows, in memory: pools, blocks, nodes, workloads, requests for loans. */
import type { Revision } from '@podwire/store';
import type { Block, BorrowRequest, Node, Pool, Workload } from './kinds.js';

/** An object and the revision to expect when it is written. */
export interface Stored<T> {
  readonly key: string;
  readonly value: T;
  readonly revision: Revision;
}

/** Names of what came, changed or went, since the last call. Blocks by cidr, the others by name or key. */
export interface CacheChange {
  readonly pools: ReadonlySet<string>;
  readonly blocks: ReadonlySet<string>;
  readonly nodes: ReadonlySet<string>;
  readonly workloads: ReadonlySet<string>;
  readonly borrowRequests: ReadonlySet<string>;
}

export interface ClusterCache {
  readonly pools: ReadonlyMap<string, Stored<Pool>>;
  /** By cidr. */
  readonly blocks: ReadonlyMap<string, Stored<Block>>;
  readonly nodes: ReadonlyMap<string, Stored<Node>>;
  /** By key. */
  readonly workloads: ReadonlyMap<string, Stored<Workload>>;
  /** By key. */
  readonly borrowRequests: ReadonlyMap<string, Stored<BorrowRequest>>;
  /** Objects that cannot be read, by key, with the reason; what was known of them before stays as it was. */
  readonly unreadable: ReadonlyMap<string, string>;
  /** Cidrs of the blocks whose owner the node is, in order. Costs what it returns. */
  blocksOf(node: string): readonly string[];
  /** Addresses that are lent to the node. Costs what it returns. */
  borrowedBy(node: string): readonly string[];
  /** The pool whose cidr holds this address or prefix. */
  poolAround(cidr: string): Stored<Pool> | undefined;
  /** Resolves with the first snapshot. */
  readonly synced: Promise<void>;
  /** Whether the watch is in touch with the store now. */
  readonly connected: boolean;
  /** What a write of one's own has made, before the watch tells: older news about the object are ignored. */
  note(key: string, value: unknown, revision: Revision): void;
  /** As {@link note}, for a deletion. */
  noteGone(key: string, revision: Revision): void;
  /** Called after each batch, when all of it is in the maps; `connected` may have changed too. Returns how to stop. */
  onChange(listener: (change: CacheChange) => void): () => void;
  /** Resolves once the cache is at least at this revision. @throws the signal's reason */
  reached(revision: Revision, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}
