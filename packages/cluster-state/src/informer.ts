/** An informer, as in client-go: it watches a part of the store, keeps decoded objects in caches and calls handlers. */
import { describeError, PodwireError } from '@podwire/errors';
import { type Log, waitUntil } from '@podwire/platform';
import {
  decodeObject,
  type Item,
  type ObjectKind,
  type Revision,
  type Store,
  type WatchBatch,
} from '@podwire/store';

/** An object and the revision to expect when it is written. */
export interface Stored<T> {
  readonly key: string;
  readonly value: T;
  readonly revision: Revision;
}

export interface ObjectCacheOptions<T> {
  readonly kind: ObjectKind<T>;
  nameOf(value: T, key: string): string;
  /** The key that the object belongs to; an object under another key is refused. Absent: any key of the folder. */
  keyOf?(value: T): string;
  onChange?(before: T | undefined, after: T | undefined): void;
}

/** Objects of one kind by name, each with the revision that is known. */
export class ObjectCache<T> {
  readonly #options: ObjectCacheOptions<T>;
  readonly #objects = new Map<string, Stored<T>>();
  /** By key. */
  readonly #names = new Map<string, string>();
  /** Deletions that the watch has not delivered yet, by key: an older event must not bring the object back. */
  readonly #tombstones = new Map<string, Revision>();

  constructor(options: ObjectCacheOptions<T>) {
    this.#options = options;
  }

  get objects(): ReadonlyMap<string, Stored<T>> {
    return this.#objects;
  }

  #knownRevision(key: string): Revision {
    const known = this.#objects.get(this.#names.get(key) ?? '')?.revision ?? -1;
    return Math.max(known, this.#tombstones.get(key) ?? -1);
  }

  /**
   * Applies an item of the store. An item that is older than the cached object is ignored.
   * @returns the name of the object that changed
   * @throws PodwireError OBJECT_INVALID, OBJECT_TOO_NEW
   */
  apply(item: Item): string | undefined {
    if (item.revision <= this.#knownRevision(item.key)) return undefined;
    const value = decodeObject(this.#options.kind, item.key, item.value);
    const home = this.#options.keyOf?.(value) ?? item.key;
    if (home !== item.key) {
      throw new PodwireError('OBJECT_INVALID', `${item.key}: this object belongs to ${home}`);
    }
    return this.put(item.key, value, item.revision);
  }

  /** As {@link apply}, for a decoded object. */
  put(key: string, value: T, revision: Revision): string | undefined {
    if (revision <= this.#knownRevision(key)) return undefined;
    const name = this.#options.nameOf(value, key);
    this.#options.onChange?.(this.#objects.get(name)?.value, value);
    this.#objects.set(name, { key, value, revision });
    this.#names.set(key, name);
    this.#tombstones.delete(key);
    return name;
  }

  /** @returns the name of the object that was removed */
  remove(key: string, revision: Revision): string | undefined {
    if (revision < this.#knownRevision(key)) return undefined;
    this.#tombstones.set(key, revision);
    return this.#forget(key);
  }

  #forget(key: string): string | undefined {
    const name = this.#names.get(key);
    if (name === undefined) return undefined;
    this.#options.onChange?.(this.#objects.get(name)?.value, undefined);
    this.#objects.delete(name);
    this.#names.delete(key);
    return name;
  }

  /** Removes every object that a snapshot does not contain and that is not newer than it. @returns the names */
  retain(keys: ReadonlySet<string>, revision: Revision): string[] {
    const surplus = [...this.#names.keys()].filter(
      (key) => !keys.has(key) && this.#knownRevision(key) <= revision,
    );
    return surplus.map((key) => this.#forget(key)!);
  }

  /** The watch has delivered everything up to this revision: older tombstones are not needed any more. */
  dropTombstones(revision: Revision): void {
    for (const [key, at] of this.#tombstones) if (at <= revision) this.#tombstones.delete(key);
  }

  /** Forgets revisions but not objects: the store was restored from a backup, and its next answer counts. */
  forgetRevisions(): void {
    this.#tombstones.clear();
    for (const [name, stored] of this.#objects) this.#objects.set(name, { ...stored, revision: -1 });
  }
}

/** Names of the objects that were added, changed or removed since the last call. */
export type Changes<Topic extends string> = Readonly<Record<Topic, ReadonlySet<string>>>;

type MutableChanges<Topic extends string> = Record<Topic, Set<string>>;

export interface InformerOptions<Topic extends string> {
  readonly store: Store;
  /** The watched prefix; the folders lie below it. */
  readonly prefix: string;
  readonly folders: Readonly<
    Record<Topic, { readonly prefix: string; readonly cache: ObjectCache<unknown> }>
  >;
  readonly log: Log;
}

/** Watches from its construction until {@link close}. Objects that cannot be decoded are listed in `unreadable`. */
export class Informer<Topic extends string> {
  readonly #options: InformerOptions<Topic>;
  readonly #topics: readonly Topic[];
  readonly #handlers = new Set<(changes: Changes<Topic>) => void>();
  readonly #closed = new AbortController();
  readonly #unreadable = new Map<string, string>();
  #revision: Revision = -1;
  #connected = false;
  #resolveSynced = (): void => undefined;
  /** Resolves with the first snapshot; rejects when the watch ends before it. */
  readonly synced: Promise<void>;
  /** Resolves after {@link close}. @throws the error that ended the watch for good */
  readonly ended: Promise<void>;

  constructor(options: InformerOptions<Topic>) {
    this.#options = options;
    this.#topics = Object.keys(options.folders) as Topic[];
    const snapshot = new Promise<void>((resolve) => (this.#resolveSynced = resolve));
    this.ended = this.#watch();
    const closed = this.ended.then(() => {
      throw this.#closed.signal.reason as Error;
    });
    this.synced = Promise.race([snapshot, closed]);
    // Not every caller waits for these.
    this.ended.catch(() => undefined);
    this.synced.catch(() => undefined);
  }

  /** True while the watch is connected to the store. */
  get connected(): boolean {
    return this.#connected;
  }

  /** Keys that cannot be decoded, with the reason. The cache keeps the last object that could be. */
  get unreadable(): ReadonlyMap<string, string> {
    return this.#unreadable;
  }

  /** The handler is called after each batch, and when `connected` changes. @returns how to unsubscribe */
  onChange(handler: (changes: Changes<Topic>) => void): () => void {
    this.#handlers.add(handler);
    return () => void this.#handlers.delete(handler);
  }

  /** Adds the result of an own write before the watch delivers it. Older events of the object are then ignored. */
  note(key: string, value: unknown, revision: Revision): void {
    // The watch is past this revision, and may have delivered a later deletion.
    if (revision <= this.#revision) return;
    const topic = this.#topicOf(key);
    const name = topic && this.#options.folders[topic].cache.put(key, value, revision);
    if (name === undefined) return;
    const changes = this.#noChanges();
    changes[topic!].add(name);
    this.#announce(changes);
  }

  /** As {@link note}, for an own deletion. */
  noteGone(key: string, revision: Revision): void {
    const changes = this.#noChanges();
    this.#remove(key, revision, changes);
    this.#announce(changes);
  }

  /** Resolves when the cache is at this revision or later. @throws the signal's reason */
  reached(revision: Revision, signal: AbortSignal): Promise<void> {
    return waitUntil(
      () => this.#revision >= revision,
      (handler) => this.onChange(handler),
      signal,
    );
  }

  async close(): Promise<void> {
    this.#closed.abort(new DOMException('closed', 'AbortError'));
    await this.ended.catch(() => undefined);
  }

  async #watch(): Promise<void> {
    const { store, prefix, log } = this.#options;
    const { signal } = this.#closed;
    const onInterruption = (err: unknown): void => {
      log.warn({ err, prefix }, 'the watch of the store was interrupted; the cache stays as it is');
      this.#setConnected(false);
    };
    try {
      const watch = store.watch(prefix, {
        signal,
        onInterruption,
        onRecovery: () => this.#setConnected(true),
      });
      for await (const batch of watch) this.#applyBatch(batch);
    } catch (err) {
      if (signal.aborted) return;
      log.error({ err, prefix }, 'the watch of the store has ended');
      this.#connected = false;
      throw err;
    }
  }

  #setConnected(value: boolean): void {
    if (this.#connected === value || this.#closed.signal.aborted) return;
    this.#connected = value;
    this.#announce(this.#noChanges());
  }

  #applyBatch(batch: WatchBatch): void {
    const changes = this.#noChanges();
    if (batch.type === 'snapshot') this.#applySnapshot(batch.items, batch.revision, changes);
    else {
      for (const change of batch.changes) {
        if (change.type === 'put') this.#apply(change.item, changes);
        else this.#remove(change.key, change.revision, changes);
      }
    }
    for (const cache of this.#caches()) cache.dropTombstones(batch.revision);
    this.#revision = batch.revision;
    this.#connected = true;
    this.#resolveSynced();
    this.#announce(changes);
  }

  #applySnapshot(items: readonly Item[], revision: Revision, changes: MutableChanges<Topic>): void {
    // A store that was restored from a backup counts from an earlier revision.
    if (revision < this.#revision) for (const cache of this.#caches()) cache.forgetRevisions();
    const present = new Set(items.map(({ key }) => key));
    for (const key of this.#unreadable.keys()) if (!present.has(key)) this.#unreadable.delete(key);
    for (const topic of this.#topics) {
      const removed = this.#options.folders[topic].cache.retain(present, revision);
      for (const name of removed) changes[topic].add(name);
    }
    for (const item of items) this.#apply(item, changes);
  }

  #apply(item: Item, changes: MutableChanges<Topic>): void {
    const topic = this.#topicOf(item.key);
    if (topic === undefined) return;
    try {
      const name = this.#options.folders[topic].cache.apply(item);
      if (name !== undefined) changes[topic].add(name);
      this.#unreadable.delete(item.key);
    } catch (err) {
      this.#unreadable.set(item.key, describeError(err));
      this.#options.log.error({ key: item.key, err }, 'cannot decode an object; the cached one stays');
    }
  }

  #remove(key: string, revision: Revision, changes: MutableChanges<Topic>): void {
    const topic = this.#topicOf(key);
    this.#unreadable.delete(key);
    const name = topic && this.#options.folders[topic].cache.remove(key, revision);
    if (name !== undefined) changes[topic!].add(name);
  }

  #announce(changes: Changes<Topic>): void {
    for (const handler of [...this.#handlers]) {
      try {
        handler(changes);
      } catch (err) {
        this.#options.log.error({ err }, 'an event handler of the cluster cache failed');
      }
    }
  }

  #topicOf(key: string): Topic | undefined {
    return this.#topics.find((topic) => key.startsWith(this.#options.folders[topic].prefix));
  }

  #caches(): ObjectCache<unknown>[] {
    return this.#topics.map((topic) => this.#options.folders[topic].cache);
  }

  #noChanges(): MutableChanges<Topic> {
    return Object.fromEntries(this.#topics.map((topic) => [topic, new Set()])) as MutableChanges<Topic>;
  }
}
