import type { Resource } from './resource.js';

/** Whose a list of resources is: any text that is unique on the node. It appears in messages. */
export type OwnerId = string;

/** A network namespace as it was when the list was made: a path alone may come to mean another one. */
export interface NamespaceIdentity {
  readonly path: string;
  readonly device: number;
  readonly inode: number;
}

/** How a resource differs from what the kernel has. */
export interface Drift {
  readonly resource: Resource;
  readonly state: 'missing' | 'changed';
  /** In words, for people: what was expected and what was found. */
  readonly detail: string;
  /** Something of the pod's own stands in its place. Reconcile leaves that, and reports it. */
  readonly isForeign?: true;
}

/** What `reconcile` did. `owner` is absent for what belonged to nobody. */
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
  /** Resources of the same number travelled in one call to the kernel. */
  readonly batch: number;
}

export type Tracer = (span: ResourceSpan) => void;

/** A list with its owner, and the namespace that its `pod` side means. The node's own list has no namespace. */
export interface Owned {
  readonly owner: OwnerId;
  readonly resources: readonly Resource[];
  readonly namespace?: NamespaceIdentity;
}

export interface CallOptions {
  readonly signal: AbortSignal;
  readonly trace?: Tracer;
}

export interface ReconcileOptions extends CallOptions {
  /** What has no owner in the list stays: the caller does not know all owners yet. */
  readonly keepLeftovers?: boolean;
}

export interface Engine {
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
  /** What is missing or changed; reads only. */
  verify(owned: Owned, options: CallOptions): Promise<Drift[]>;
  /**
   * Makes the host look like `desired`: adopts what is there, repairs what drifted, prunes what carries Podwire's
   * mark (link names and group, table names, route protocol) and has no owner. Never flushes, touches nothing foreign.
   */
  reconcile(desired: readonly Owned[], options: ReconcileOptions): Promise<Change[]>;
  /** Deletes links whose removal was put off, now. Also runs by itself moments after a `remove`. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Points at which a test may end the process. The engine and the agent call `reach` between all steps; names are
 * stable within a run of the same request, so a test records them once and then dies at each in turn.
 */
export interface FaultPoints {
  reach(point: string): void;
}

export const noFaults: FaultPoints = { reach: () => undefined };
