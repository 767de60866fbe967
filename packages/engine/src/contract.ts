/**
 * The contract between the engine and its backends. A resource is plain data that names one thing the node must have;
 * a kind describes the resources of one name; a backend is changed in one call and observed in one look. The engine
 * knows none of them by name.
 */
import type { ErrorCode } from '@podwire/errors';
import type { FaultPoints } from '@podwire/platform';

/** The part that all resources share. They are stored as JSON: strings, numbers, booleans, arrays and objects. */
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

/** The owner of a list of resources: any text that is unique on the node. It appears in messages. */
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

/** The place of a resource: `host`, `pod`, or what else a backend distinguishes (a database, a bridge). */
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
  /** Resources that share backend, batch and place travel in one call, where their order allows it. */
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
  /** Drift is put right without a gap, though other content cannot be put in its place; {@link inPlace} when absent. */
  readonly repairedInPlace?: boolean;
  /** All changes to resources of its batch and place are one transaction: see {@link Session.exchange}. */
  readonly transactional?: boolean;
  /** Never half there and no other's concern: owners of nothing else are reconciled many at a time. */
  readonly independent?: boolean;
  /** A missing one may have left parts; the backend clears them before it is made again. */
  readonly leavesParts?: boolean;
  /**
   * Keys of resources that leave parts. Where one of them is missing, this one is cleared before, and made again after it, though
   * it is there and right: a switch holds on to a link that is gone, and does not look for a new one of that name.
   */
  renewedWith?(resource: R): readonly string[];
  /**
   * Keys of resources, of any backend, that must be there first. Those that are in no list are there already. It is made
   * after them, removed before them, and not repaired where one of them could not be. The one it dies with when absent.
   */
  after?(resource: R): readonly string[];
  /**
   * Keys among {@link after} without which it would do harm: where one of them is otherwise than wanted and cannot be repaired, it is
   * removed, until that is as wanted again. A flow names the number of a port, and another port may have got it.
   */
  onlyWith?(resource: R): readonly string[];
  /**
   * Milliseconds that making it may take beyond the deadline of a call, since it waits for something that no call hastens:
   * another program, another machine. None when absent. Pure.
   */
  waits?(resource: R): number;
  /** The kind to use for this very resource, where another backend does it better. */
  variant?(resource: R): Kind<R> | undefined;
  /**
   * The reason why a value that was read from a file is no resource of this kind, with the path to it:
   * `host.name: no name of a link`. `undefined` when it is one.
   */
  check(value: unknown): string | undefined;
  /** `undefined` when what was found is what the resource asks for. Pure. */
  compare(resource: R, found: F): Difference | undefined;
  /**
   * Keys under which its backend hints at it; its own key when absent. A route names the link that it needs as well. Pure.
   */
  touches?(resource: R): readonly string[];
  /**
   * The state that {@link Hint.now} shows of the resource, as {@link compare} takes it; `undefined` where it shows nothing of it, also
   * always when absent. Pure.
   */
  shownBy?(resource: R, now: object): F | undefined;
}

/** Every kind of the program with its object: what a composition root checks its backends against. */
export type KindMap = { readonly [K in keyof ResourceKinds]: Kind };

/** One resource that could not be made or removed. */
export interface Failure {
  readonly resource: Resource;
  readonly error: unknown;
}

/** Resources that travel together. */
export interface Batch {
  readonly backend: string;
  readonly name: string;
  readonly place: Place;
  readonly resources: readonly Resource[];
}

/** One step of a repair: make the resource, or put it in the place of the one that is there. */
export interface Repair {
  readonly resource: Resource;
  readonly action: 'add' | 'replace';
}

/**
 * The state of one resource, or the reason in words why its place is gone, or the error that kept it from being seen: one
 * of several places may be silent.
 */
export type Observation =
  { readonly found: unknown } | { readonly gone: string } | { readonly unseen: unknown };
export type Observed = ReadonlyMap<Resource, Observation>;

/** State that many owners share, read at most once. Its content is the backend's business. */
export interface Snapshot {
  /** Reads what is large, bit by bit, so that other work gets its turn in between. */
  readAhead?(options: SessionOptions): Promise<void>;
}

/** Something that carries our mark. */
export interface MarkedThing {
  /** The key of the resource that it would belong to. */
  readonly key: string;
  /** In words; things whose first word is the same go together. */
  readonly what: string;
}

/** Everything that a transaction does. */
export interface Exchange {
  /** Resources that come. Something that has the key of one is a conflict. */
  readonly add: readonly Resource[];
  /** Each takes the place of whatever has its key, also of nothing. */
  readonly replace: readonly Resource[];
  readonly remove: readonly Resource[];
}

export interface SessionOptions {
  /** Aborts when the caller gives up or when the engine has waited long enough: the call is left behind then. */
  readonly signal: AbortSignal;
}

export interface StartedRemoval {
  readonly done: Promise<readonly Failure[]>;
}

/**
 * A backend, opened for one call of the engine. It opens nothing before it is needed. What `create`, `repair` and
 * `remove` return are failures; they throw only errors that make the whole call pointless. Every call ends: the engine
 * waits for none of them longer than its deadline ({@link EngineOptions.callDeadline}).
 */
export interface Session {
  /** True while the place is still there. */
  reaches(place: Place, options: SessionOptions): Promise<boolean>;
  /**
   * The batch comes next, and the one before it, of another backend, is under way: does ahead what shows nowhere, such as
   * looking, and sending what is not in force yet. Then {@link create} gets the same batch, or the session is closed. Does
   * not wait, and does not throw.
   */
  prepare?(batch: Batch, options: SessionOptions): void;
  /** All of the batch or nothing is wanted: the engine removes what was made when one fails. */
  create(batch: Batch, options: SessionOptions): Promise<readonly Failure[]>;
  /** Each as far as it can be done. */
  repair(batch: Batch, repairs: readonly Repair[], options: SessionOptions): Promise<readonly Failure[]>;
  /** Each as far as it can be done. */
  remove(batch: Batch, options: SessionOptions): Promise<readonly Failure[]>;
  /**
   * As {@link remove}, for a backend whose turn may come late: resolves when whatever is done from then on comes after it. The
   * engine goes on with what else is to be removed, and waits for `done` before its own call ends.
   */
  startRemoval?(batch: Batch, options: SessionOptions): Promise<StartedRemoval>;
  /**
   * All in one transaction, or nothing has changed and there are failures. What is to go and is not there is no failure.
   * Absent where the backend has no transactions.
   */
  exchange?(exchange: Exchange, options: SessionOptions): Promise<readonly Failure[]>;
  /** Looks at these resources: one by one, or in the snapshot where one is given. */
  observe(
    resources: readonly Resource[],
    snapshot: Snapshot | undefined,
    options: SessionOptions,
  ): Promise<Observed>;
  /** Finds missing resources that were moved or renamed and puts them back, except where an owner has the key. */
  recover?(
    missing: readonly Resource[],
    isOwned: (key: string) => boolean,
    options: SessionOptions,
  ): Promise<void>;
  /** Clears away what is left of missing resources whose kind leaves parts, and what is renewed with such a one. */
  clear?(missing: readonly Resource[], options: SessionOptions): Promise<readonly Failure[]>;
  /** Everything with our mark. `wanted` is what all owners want. */
  listMarked?(
    wanted: readonly Resource[],
    snapshot: Snapshot | undefined,
    options: SessionOptions,
  ): Promise<readonly MarkedThing[]>;
  /** Deletes what {@link listMarked} has returned. Returns what could not be deleted, with the error. */
  prune?(things: readonly MarkedThing[], options: SessionOptions): Promise<ReadonlyMap<MarkedThing, unknown>>;
  close(): void;
}

/** Something other than this program may have changed what is ours. Where to look, and not what is wrong. */
export interface Hint {
  /** Of what was changed: keys as {@link Kind.touches} has them. All of one thing. */
  readonly keys: readonly string[];
  /** How it is now, for {@link Kind.shownBy}. Absent when it is gone, or where only a look finds out. */
  readonly now?: object;
  /** It carries our mark: where no owner has the first of the keys, a leftover has come. With `lost`: one may have come. */
  readonly marked?: boolean;
  /** More has happened than could be kept: everything in the place of the feed is to be looked at. */
  readonly lost?: boolean;
  /** The program that did it, in words, as far as that is known. */
  readonly by?: string;
}

/** Hints as they come, from {@link ChangeFeed.open} on. What this program does itself is left out. */
export interface Changes {
  /** Returns hints that have come since the last call. Never waits. `more`: there is more to read at once. */
  read(): { readonly hints: readonly Hint[]; readonly more: boolean };
  close(): void;
}

/**
 * Changes by others in one place. Feeds are read a few times a second and not as things happen: work of our own causes
 * most of it and must not wait. Places are read apart, so that one in which much happens does not hold up another.
 */
export interface ChangeFeed {
  readonly place: Place;
  /** @throws where changes cannot be listened to */
  open(): Changes;
}

/** The part of the engine that a session may use. */
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
  /** Absent where changes of others are only found by looking. */
  readonly changes?: readonly ChangeFeed[];
  close(): void;
}

/** Deletions that are cheaper together. A thing in a batch is out of service, and its mark outlives the process. */
export interface DeferredDeletion {
  /** Numbers run from 0 to this, and begin again. */
  readonly batches: number;
  /** Things in one batch. */
  readonly batchSize: number;
  /**
   * Batches that are not empty, of this process or an earlier one.
   * @param snapshot to take it from, where there is one; what was deleted since may be among it
   */
  list(options: SessionOptions, snapshot?: Snapshot): Promise<readonly number[]>;
  /** Deletes everything in the batch. */
  delete(batch: number, options: SessionOptions): Promise<void>;
}
