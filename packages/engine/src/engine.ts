import type { ErrorCode } from '@podwire/errors';
import type { NamespaceIdentity, Owned, OwnerId, Resource, SessionOptions } from './contract.js';
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

/** One deed of `reconcile`. `owner` is absent for leftovers. */
export interface Change {
  readonly owner?: OwnerId;
  readonly action: 'repaired' | 'removed' | 'failed';
  /** In words: `route 10.244.0.5/32 dev cali0123`. */
  readonly what: string;
  /** Of a repair that could not be done in place: traffic through the thing was interrupted. */
  readonly gap?: true;
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
  /** Things without an owner in the list stay: the caller does not know all owners yet. */
  readonly keepLeftovers?: boolean;
}

/** An owner of resources, and the namespace that their `pod` place means. */
export interface Owner {
  readonly owner: OwnerId;
  readonly namespace?: NamespaceIdentity;
}

/** Lists in any order: the engine knows which resource needs which. */
export interface ChangeSet {
  /** Resources that go. One that is not there is no error. */
  readonly remove?: readonly Resource[];
  /** Each takes the place of whatever has its key, also of nothing. */
  readonly replace?: readonly Resource[];
  /**
   * Resources that come. One that has the key of a removed one takes its place, which is known then and can be put back.
   * Otherwise something that is there and differs is an error.
   */
  readonly add?: readonly Resource[];
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
   * All or nothing, over all backends: when one resource fails or the signal fires, the steps that were taken are undone
   * in reverse and the error is thrown. Removal comes first, then everything else in the order of what needs what.
   * Content changes in place where the kind can; all that happens in one transaction of a backend is one step, which
   * traffic sees as a whole.
   *
   * A change that only removes is idempotent: it goes on after errors and throws them together. A namespace that is gone
   * or has become another one is no error then: the host side is cleaned.
   *
   * The caller writes down what may come to be there before it calls.
   * @throws PodwireError KERNEL_REFUSED, NAMESPACE_GONE, NAMESPACE_INVALID, DEADLINE_EXCEEDED, BACKEND_SILENT,
   *   RESOURCE_CIRCLE before anything was changed; REMOVE_INCOMPLETE when something could not be removed or undone
   */
  change(owner: Owner, change: ChangeSet, options: CallOptions): Promise<void>;
  /** A change that adds all of the list. A resource that is there already is taken over if it agrees. */
  apply(owned: Owned, options: CallOptions): Promise<void>;
  /** A change that removes all of the list. */
  remove(owned: Owned, options: CallOptions): Promise<void>;
  /**
   * Lists resources that are missing or changed; reads only.
   * @throws PodwireError BACKEND_SILENT, DEADLINE_EXCEEDED, and what keeps a backend from looking
   */
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
  /**
   * How many calls were left behind since the start, by backend: at the deadline, or when their caller gave up. Each of
   * them may still be at work.
   */
  abandonedCalls(): ReadonlyMap<string, number>;
  /** Carries out deferred deletions now. Also runs by itself moments after a `remove`. */
  settle(): Promise<void>;
  close(): Promise<void>;
}
