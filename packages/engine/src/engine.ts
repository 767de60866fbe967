import type { ErrorCode } from '@podwire/errors';
import type { Owned, OwnerId, Resource, SessionOptions } from './contract.js';
import type { KindRegistry } from './registry.js';

/** How a resource differs from what is there. */
export interface Drift {
  readonly resource: Resource;
  readonly state: 'missing' | 'changed';
  /** In words, for people: what was expected and what was found. */
  readonly detail: string;
  /** Something foreign stands in its place. Reconcile leaves that, and reports it with this code. */
  readonly foreign?: ErrorCode;
}

/** What `reconcile` did. `owner` is absent for leftovers. */
export interface Change {
  readonly owner?: OwnerId;
  readonly action: 'repaired' | 'removed' | 'failed';
  /** In words: `route 10.244.0.5/32 dev cali0123`. */
  readonly what: string;
  readonly error?: unknown;
}

/** The time one resource (or the batch it travelled in) took. */
export interface ResourceSpan {
  readonly resource: Resource;
  readonly action: 'apply' | 'remove' | 'verify';
  /** Milliseconds since the start of the call. */
  readonly start: number;
  /** Milliseconds; members of one batch share the batch's time equally. */
  readonly duration: number;
  /** Resources of the same number travelled in one call. */
  readonly batch: number;
}

export type Tracer = (span: ResourceSpan) => void;

export interface CallOptions extends SessionOptions {
  readonly trace?: Tracer;
}

export interface ReconcileOptions extends CallOptions {
  /** What has no owner in the list stays: the caller does not know all owners yet. */
  readonly keepLeftovers?: boolean;
}

/** Resources that come and resources that go in one transaction. */
export interface Exchange {
  /** Each replaces the resource with its key. A resource that others of the list refer to stands in front of them. */
  readonly add: readonly Resource[];
  /** A resource that has the key of an added one counts as replaced. */
  readonly remove: readonly Resource[];
}

/** A reconcile in steps. What is read of the system is shared by all of them. */
export interface Reconcile {
  /** Repairs what drifted of these owners. The caller sees to it that nothing else works on them meanwhile. */
  repair(owners: readonly Owned[], options: CallOptions): Promise<Change[]>;
  /** The last step: prunes what no owner has wanted at any time since the start. */
  finish(options: ReconcileOptions): Promise<Change[]>;
}

export interface Engine {
  /** The kinds of all backends: keys, descriptions, what can be changed in place. */
  readonly kinds: KindRegistry;
  /**
   * All or nothing: when one resource fails or the signal fires, what was applied is removed in reverse and the
   * error is thrown. A resource that is there already is taken over if it agrees and is an error if not.
   * @throws PodwireError KERNEL_REFUSED, NAMESPACE_GONE, NAMESPACE_INVALID, DEADLINE_EXCEEDED
   */
  apply(owned: Owned, options: CallOptions): Promise<void>;
  /**
   * Idempotent; goes on after errors and throws them together. A namespace that is gone or has become another one
   * is no error: the host side is cleaned.
   * @throws PodwireError REMOVE_INCOMPLETE
   */
  remove(owned: Owned, options: CallOptions): Promise<void>;
  /**
   * In one transaction of one backend: everything of `add` is there afterwards and everything of `remove` is gone, or
   * nothing has changed and the error is thrown. What is to be removed and is not there is no error.
   * @throws PodwireError KERNEL_REFUSED, DEADLINE_EXCEEDED
   * @throws RangeError for resources of two backends, or of one that has no transactions
   */
  exchange(owner: OwnerId, change: Exchange, options: CallOptions): Promise<void>;
  /** What is missing or changed; reads only. */
  verify(owned: Owned, options: CallOptions): Promise<Drift[]>;
  /**
   * Makes the node look like `desired`: adopts what is there, repairs what drifted, prunes what carries Podwire's
   * mark and has no owner. Never flushes, touches nothing foreign.
   */
  reconcile(desired: readonly Owned[], options: ReconcileOptions): Promise<Change[]>;
  /**
   * The same in steps, while other work goes on.
   * @param wanted what all owners want at the moment of the call, in whatever state they are; nothing of it is pruned.
   *   It is called in the tick in which something is about to be deleted
   */
  startReconcile(wanted: () => Iterable<Owned>): Reconcile;
  /** Carries out deferred deletions now. Also runs by itself moments after a `remove`. */
  settle(): Promise<void>;
  close(): Promise<void>;
}
