/**
 * What the engine and its backends agree on. A resource is plain data that names one thing the node must have; a kind
 * says everything about the resources of one name; a backend is what can be changed in one call and observed in one
 * look. The engine knows none of them by name.
 */
import type { ErrorCode } from '@podwire/errors';
import type { FaultPoints } from '@podwire/platform';

/** What all resources have in common. They are stored as JSON: strings, numbers, booleans, arrays and objects. */
export interface AnyResource {
  readonly kind: string;
}

/**
 * The kinds of resources in a program, by name. A backend adds its own beside their declaration:
 * `declare module '@podwire/engine' { interface ResourceKinds { veth: Veth } }`.
 */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type -- extended by backends
export interface ResourceKinds {}

/** Any resource of the program. Where no backend is imported, all that is known is that it has a kind. */
export type Resource = [keyof ResourceKinds] extends [never]
  ? AnyResource
  : ResourceKinds[keyof ResourceKinds];

export type ResourceKind = Resource['kind'];

/** Whose a list of resources is: any text that is unique on the node. It appears in messages. */
export type OwnerId = string;

/** A network namespace as it was when the list was made: a path alone may come to mean another one. */
export interface NamespaceIdentity {
  readonly path: string;
  readonly device: number;
  readonly inode: number;
}

/** A list with its owner, and the namespace that its `pod` place means. The node's own list has no namespace. */
export interface Owned {
  readonly owner: OwnerId;
  readonly resources: readonly Resource[];
  readonly namespace?: NamespaceIdentity;
}

/** Where a resource is: `host`, `pod`, or what else a backend distinguishes (a database, a bridge). */
export type Place = string;

/**
 * How a resource differs from what is there: it is missing, it has other content (in words), or something that is not
 * ours to replace stands in its place.
 */
export type Difference =
  { readonly missing: string } | { readonly foreign: string; readonly code: ErrorCode } | string;

/** Everything about one kind of resource. `F` is what its backend finds out about a resource of the kind. */
export interface Kind<R extends AnyResource = AnyResource, F = unknown> {
  readonly kind: R['kind'];
  /** Name of the backend. */
  readonly backend: string;
  /** Neighbours in a list that share backend, batch and place travel in one call. */
  readonly batch: string;
  place(resource: R): Place;
  /** Two resources of one key cannot both be there. Unique over all kinds; within one owner's `pod` place also in it. */
  key(resource: R): string;
  /** In a few words, for messages, traces and tables: `route 10.244.0.5/32 dev cali0123`. */
  describe(resource: R): string;
  /** Keys that others name in {@link diesWith}; its own key when absent. A veth carries what is on either end. */
  carries?(resource: R): readonly string[];
  /** A key: where a resource that carries it goes in the same call, this one goes with it and is not removed itself. */
  diesWith?(resource: R): string | undefined;
  /**
   * How it goes. Absent: in reverse order of creation. `last`: after these. `deferred`: last of all, all of them in one
   * call, and the backend may put off the costly part (see {@link DeferredDeletion}). `never`: it stays.
   */
  readonly removal?: 'last' | 'deferred' | 'never';
  /** Content that differs is changed without a gap. Otherwise the old one goes before the new one comes. */
  readonly inPlace: boolean;
  /** Never half there and no other's concern: owners of nothing else are reconciled many at a time. */
  readonly independent?: boolean;
  /** A missing one may have left parts; the backend clears them before it is made again. */
  readonly leavesParts?: boolean;
  /** `BACKEND/BATCH`es in which a repair must not have failed before: it is not repaired then. */
  readonly requires?: readonly string[];
  /** The kind to use for this very resource, where another backend does it better. */
  variant?(resource: R): Kind<R> | undefined;
  /**
   * What keeps a value that was read from a file from being a resource of this kind, with the path to it:
   * `host.name: no name of a link`. `undefined` when it is one.
   */
  check(value: unknown): string | undefined;
  /** `undefined` when what was found is what the resource asks for. Pure. */
  compare(resource: R, found: F): Difference | undefined;
}

/** Every kind of the program with its object: what a composition root checks its backends against. */
export type KindMap = { readonly [K in keyof ResourceKinds]: Kind };

/** One resource that could not be made or removed. */
export interface Failure {
  readonly resource: Resource;
  readonly error: unknown;
}

/** What is travelling together. */
export interface Batch {
  readonly backend: string;
  readonly name: string;
  readonly place: Place;
  readonly resources: readonly Resource[];
}

/** What a repair does about one resource: make it, or put it in the place of what is there. */
export interface Repair {
  readonly resource: Resource;
  readonly action: 'add' | 'replace';
}

/** What was found of one resource, or that its place is gone, in words. */
export type Observation = { readonly found: unknown } | { readonly gone: string };
export type Observed = ReadonlyMap<Resource, Observation>;

/** What many owners share, read at most once. Its content is the backend's business. */
export interface Snapshot {
  /** Reads what is large, bit by bit, so that other work gets its turn in between. */
  readAhead?(): Promise<void>;
}

/** Something that carries our mark. */
export interface MarkedThing {
  /** The key of the resource that it would belong to. */
  readonly key: string;
  /** In words; things whose first word is the same go together. */
  readonly what: string;
}

export interface SessionOptions {
  readonly signal: AbortSignal;
}

/**
 * A backend, opened for one call of the engine. It opens nothing before it is needed. What `create`, `repair` and
 * `remove` return are failures; they throw nothing but what makes the whole call pointless.
 */
export interface Session {
  /** Whether the place is still there. */
  reaches(place: Place): boolean;
  /** All of the batch or nothing is wanted: the engine removes what was made when one fails. */
  create(batch: Batch, options: SessionOptions): Promise<readonly Failure[]>;
  /** Each as far as it can be done. */
  repair(batch: Batch, repairs: readonly Repair[], options: SessionOptions): Promise<readonly Failure[]>;
  /** Each as far as it can be done. */
  remove(batch: Batch, options: SessionOptions): Promise<readonly Failure[]>;
  /**
   * In one transaction: all of `add` is there afterwards, in the place of what has the same keys, and all of `remove` is
   * gone, or nothing has changed and there are failures. Absent where the backend has no transactions.
   */
  exchange?(
    add: readonly Resource[],
    remove: readonly Resource[],
    options: SessionOptions,
  ): Promise<readonly Failure[]>;
  /** Looks at these resources: one by one, or in the snapshot where one is given. */
  observe(resources: readonly Resource[], snapshot: Snapshot | undefined): Promise<Observed>;
  /** Finds missing resources that were moved or renamed and puts them back, except where an owner has the key. */
  recover?(missing: readonly Resource[], isOwned: (key: string) => boolean): Promise<void>;
  /** Clears away what is left of missing resources whose kind leaves parts. */
  clear?(missing: readonly Resource[], options: SessionOptions): Promise<readonly Failure[]>;
  /** Everything with our mark. `wanted` is what all owners want. */
  listMarked?(wanted: readonly Resource[], snapshot: Snapshot | undefined): Promise<readonly MarkedThing[]>;
  /** Deletes what {@link listMarked} has returned. Returns what could not be deleted, with the error. */
  prune?(things: readonly MarkedThing[]): Promise<ReadonlyMap<MarkedThing, unknown>>;
  close(): void;
}

/** What a session may use of the engine. */
export interface SessionContext {
  readonly faults: FaultPoints;
  /** The number of the batch of deferred deletions to put so many things into. */
  readonly defer: (count: number) => number;
}

export interface Backend {
  readonly name: string;
  readonly kinds: readonly Kind[];
  open(owned: Owned, context: SessionContext): Session;
  /** Taken before a reconcile; reads nothing yet. */
  snapshot?(): Snapshot;
  /** The error says that the thing, or what it was on, is not there. */
  isAbsent(error: unknown): boolean;
  /** The error says that something of the same key is there already. */
  isConflict(error: unknown): boolean;
  readonly deferred?: DeferredDeletion;
  close(): void;
}

/** Deletions that are cheaper together. A thing in a batch is out of service, and its mark outlives the process. */
export interface DeferredDeletion {
  /** Numbers run from 0 to this, and begin again. */
  readonly batches: number;
  /** Things in one batch. */
  readonly batchSize: number;
  /** Batches that are not empty, of this process or an earlier one. */
  list(): readonly number[];
  /** Deletes everything in the batch. */
  delete(batch: number, signal: AbortSignal): Promise<void>;
}
