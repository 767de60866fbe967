/**
 * A store: a flat, ordered map from keys to text that many nodes share, with writes that are conditional on the current
 * content. Back ends: `memory` (tests, simulation), `embedded` (one machine), `etcd`, `consul`. All pass the same
 * suite (`@podwire/store/compliance`).
 *
 * Every call takes a signal; when it aborts, the call rejects with its reason. A call without an answer in time is cut by
 * the back end's own deadline as well ({@link PodwireError} STORE_UNAVAILABLE). After that it is unknown whether a write was
 * done: `details.uncertain` is true, and the caller reads before it decides. After an abort it is the same, without details.
 */
import type { Clock, Log } from '@podwire/platform';

/**
 * Grows with every write to the store. Comparable within one store; never a time. An item's revision is that of its
 * last write, and changes with every write, also one of the same text.
 */
export type Revision = number;

export interface Item {
  readonly key: string;
  readonly value: string;
  readonly revision: Revision;
  /** The lease with which the item goes. */
  readonly lease?: LeaseId;
}

export type LeaseId = string;

/** The condition of a write: `absent`, or the item's revision. */
export type Expectation = 'absent' | Revision;

export interface CallOptions {
  readonly signal?: AbortSignal;
}

export interface PutOptions extends CallOptions {
  readonly expect?: Expectation;
  /** The item goes when the lease ends. */
  readonly lease?: LeaseId;
}

export interface Condition {
  readonly key: string;
  readonly expect: Expectation;
}

export type Write =
  | { readonly op: 'put'; readonly key: string; readonly value: string; readonly lease?: LeaseId }
  | { readonly op: 'delete'; readonly key: string };

/** All conditions hold and all writes happen, or nothing happens. A key is written once at most. */
export interface Transaction {
  readonly conditions: readonly Condition[];
  readonly writes: readonly Write[];
}

export type TransactionOutcome =
  | { readonly committed: true; readonly revision: Revision }
  /** `found`: what is at each condition's key now, in their order. */
  | { readonly committed: false; readonly found: readonly (Item | undefined)[] };

export interface Listing {
  /** In order of keys. */
  readonly items: readonly Item[];
  /** Where to watch from to miss nothing. */
  readonly revision: Revision;
}

export type Change =
  | { readonly type: 'put'; readonly item: Item }
  | { readonly type: 'delete'; readonly key: string; readonly revision: Revision };

/**
 * A watch without `from` begins with a snapshot. Later it gives changes in the order they happened, all of one transaction
 * together. Whenever the store has forgotten what lies between (compaction, a server restored, a back end without
 * history), it gives a whole snapshot again: what is not in it is gone.
 */
export type WatchBatch =
  | { readonly type: 'snapshot'; readonly items: readonly Item[]; readonly revision: Revision }
  | { readonly type: 'changes'; readonly changes: readonly Change[]; readonly revision: Revision };

export interface WatchOptions {
  /** Changes after this revision; without it the watch begins with a snapshot. */
  readonly from?: Revision;
  /** Ends the watch. */
  readonly signal: AbortSignal;
  /** The watch is cut off and tries again by itself (with growing pauses); `undefined`: it is back. */
  readonly onInterruption?: (error: unknown) => void;
  readonly onRecovery?: () => void;
}

export interface Lease {
  readonly id: LeaseId;
  /** Milliseconds for which it lives on without being kept alive; what the server granted. */
  readonly ttl: number;
  /**
   * Prolongs it once. To keep it, call this every third of `ttl` (see `keepLease`).
   * @throws PodwireError STORE_LEASE_LOST when it has ended
   */
  keepAlive(options?: CallOptions): Promise<void>;
  /** Ends it and everything that is bound to it. One that has ended is no error. */
  revoke(options?: CallOptions): Promise<void>;
}

export interface StoreLimits {
  /** Conditions and writes of one transaction, each. */
  readonly operations: number;
  /** Bytes of one value. */
  readonly valueBytes: number;
}

/**
 * Keys are printable ASCII without spaces, at most 512 characters, parts divided by `/`; none is empty, `.` or `..`. A
 * prefix is text that keys begin with: `a/b` finds `a/bc` too, `a/b/` what is in that folder.
 * @throws (all calls) PodwireError STORE_UNAVAILABLE, STORE_DENIED, STORE_FULL; REQUEST_INVALID for a key or value that
 * cannot be; STORE_LEASE_LOST for a write with a lease that has ended
 */
export interface Store {
  readonly kind: string;
  readonly limits: StoreLimits;
  get(key: string, options?: CallOptions): Promise<Item | undefined>;
  /** @returns the revision of the new item. @throws PodwireError STORE_CONFLICT when `expect` does not hold */
  put(key: string, value: string, options?: PutOptions): Promise<Revision>;
  /**
   * @returns whether there was something. Absent is no error unless a revision is expected.
   * @throws PodwireError STORE_CONFLICT when `expect` does not hold
   */
  delete(key: string, options?: CallOptions & { readonly expect?: Revision }): Promise<boolean>;
  transact(transaction: Transaction, options?: CallOptions): Promise<TransactionOutcome>;
  /** Everything that begins with `prefix`, consistent at one revision, however much it is. */
  list(prefix: string, options?: CallOptions): Promise<Listing>;
  watch(prefix: string, options: WatchOptions): AsyncIterable<WatchBatch>;
  /** @param ttl milliseconds; a back end may grant more (etcd: whole seconds; Consul: 10 s at least) */
  grantLease(ttl: number, options?: CallOptions): Promise<Lease>;
  /** Ends watches and connections. Leases are left to expire. */
  close(): Promise<void>;
}

export interface TlsFiles {
  readonly ca?: string;
  readonly certificate?: string;
  readonly key?: string;
  readonly serverName?: string;
}

export type StoreSpec =
  /** One machine: a directory that all programs of the machine open. */
  | { readonly kind: 'embedded'; readonly directory: string }
  | {
      readonly kind: 'etcd';
      /** `http://HOST:PORT` or `https://…`; the first that answers is used. */
      readonly endpoints: readonly string[];
      readonly tls?: TlsFiles;
      readonly username?: string;
      /** A file with nothing but the password: it is in no configuration and on no command line. */
      readonly passwordFile?: string;
    }
  | {
      readonly kind: 'consul';
      readonly endpoints: readonly string[];
      readonly tls?: TlsFiles;
      /** A file with the ACL token. */
      readonly tokenFile?: string;
    };

export interface OpenOptions {
  readonly log: Log;
  readonly clock: Clock;
  /** Creates an embedded store that does not exist; true by default. */
  readonly create?: boolean;
}
