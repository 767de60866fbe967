/** Objects of a cluster, in its store. */
import { PodwireError } from '@podwire/errors';
import type { Clock } from '@podwire/platform';
import type { Change, Item, Store, WatchBatch } from '@podwire/store';
import type {
  AnyObject,
  ListOptions,
  ObjectBatch,
  ObjectChange,
  ObjectListing,
  ObjectReference,
  ObjectSource,
  ObjectWatchOptions,
  Origin,
  Revision,
  Saved,
  SaveOptions,
  SourceCallOptions,
  StoredObject,
} from '../contract.js';
import { referenceOf } from '../contract.js';
import { isEqual } from './equal.js';
import { conflict, invalid, requireExpected, requireValid } from './failures.js';
import { selects } from './selects.js';
import { withStatusOf } from './status.js';
import { decode, encode, groupPrefix, keyOf, objectsPrefix, referenceOfKey } from './store-object.js';
import { mayBeUsed, requireUnused } from './users.js';

export interface StoreSourceOptions {
  readonly store: Store;
  /** The prefix of all keys: `/podwire`. */
  readonly root: string;
  readonly clock: Pick<Clock, 'now'>;
}

/** How often a deletion is tried again that others interfere with. */
const mostTries = 16;

export const createStoreSource = (options: StoreSourceOptions): ObjectSource => new StoreSource(options);

class StoreSource implements ObjectSource {
  readonly name: string;
  readonly #store: Store;
  readonly #root: string;
  readonly #clock: Pick<Clock, 'now'>;

  constructor({ store, root, clock }: StoreSourceOptions) {
    this.name = `store ${store.kind}`;
    this.#store = store;
    this.#root = root;
    this.#clock = clock;
  }

  async get(reference: ObjectReference, options: SourceCallOptions = {}): Promise<StoredObject | undefined> {
    const item = await this.#store.get(keyOf(this.#root, reference), signalOf(options));
    if (item === undefined) return undefined;
    const { stored, unreadable } = decode(this.#root, item);
    if (unreadable === undefined) return stored;
    throw invalid(item.key, unreadable.problems.map(({ message }) => message).join('; '));
  }

  async list(options: ListOptions = {}): Promise<ObjectListing> {
    const { items, revision } = await this.#store.list(objectsPrefix(this.#root), signalOf(options));
    return {
      ...split(
        items.map((item) => decode(this.#root, item)),
        options,
      ),
      revision,
    };
  }

  async save(object: AnyObject, origin: Origin | undefined, options: SaveOptions = {}): Promise<Saved> {
    const checked = requireValid(object);
    const reference = referenceOf(checked);
    const found = await this.#store.get(keyOf(this.#root, reference), signalOf(options));
    requireExpected(reference, options.expect, found?.revision);
    const before = found === undefined ? undefined : decode(this.#root, found).stored;
    const valid = withStatusOf(checked, before?.object);
    if (before !== undefined && isEqual(before.object, valid) && isEqual(before.origin, origin))
      return { outcome: 'unchanged', revision: before.revision };
    const text = encode(valid, origin, before?.created ?? this.#clock.now());
    const outcome = found === undefined ? 'created' : 'configured';
    if (options.dryRun === true) return { outcome, revision: found?.revision ?? 0 };
    return { outcome, revision: await this.#put(reference, text, options) };
  }

  async #put(reference: ObjectReference, text: string, { expect, signal }: SaveOptions): Promise<Revision> {
    const key = keyOf(this.#root, reference);
    const condition = expect === undefined ? {} : { expect };
    try {
      return await this.#store.put(key, text, { ...condition, ...signalOf({ signal }) });
    } catch (error) {
      if (!isConflict(error)) throw error;
      const now = await this.#store.get(key, signalOf({ signal }));
      throw conflict(reference, expect, now?.revision);
    }
  }

  async delete(
    reference: ObjectReference,
    options: Omit<SaveOptions, 'expect'> & { readonly expect?: Revision } = {},
  ): Promise<{ readonly deleted: boolean; readonly revision: Revision }> {
    const key = keyOf(this.#root, reference);
    if (mayBeUsed(reference)) requireUnused(reference, await this.#listGroup(reference, options));
    for (let tries = 0; tries < mostTries; tries++) {
      const found = await this.#store.get(key, signalOf(options));
      requireExpected(reference, options.expect, found?.revision);
      if (found === undefined) return { deleted: false, revision: 0 };
      if (options.dryRun === true) return { deleted: true, revision: found.revision };
      // A transaction, since only that tells the revision after the deletion.
      const outcome = await this.#store.transact(
        { conditions: [{ key, expect: found.revision }], writes: [{ op: 'delete', key }] },
        signalOf(options),
      );
      if (outcome.committed) return { deleted: true, revision: outcome.revision };
    }
    throw conflict(reference, options.expect, undefined);
  }

  async #listGroup(reference: ObjectReference, options: SourceCallOptions): Promise<AnyObject[]> {
    const { items } = await this.#store.list(groupPrefix(this.#root, reference), signalOf(options));
    return items.flatMap((item) => decode(this.#root, item).stored?.object ?? []);
  }

  async *watch({ signal, onInterruption }: ObjectWatchOptions): AsyncIterable<ObjectBatch> {
    const tell =
      onInterruption === undefined ? {} : { onInterruption, onRecovery: () => onInterruption(undefined) };
    for await (const batch of this.#store.watch(objectsPrefix(this.#root), { signal, ...tell }))
      yield toObjects(this.#root, batch);
  }
}

const signalOf = ({ signal }: SourceCallOptions): { readonly signal?: AbortSignal } =>
  signal === undefined ? {} : { signal };

const isConflict = (error: unknown): boolean =>
  error instanceof PodwireError && error.code === 'STORE_CONFLICT';

function toObjects(root: string, batch: WatchBatch): ObjectBatch {
  const { revision } = batch;
  if (batch.type === 'changes')
    return { type: 'changes', revision, changes: batch.changes.map((change) => toChange(root, change)) };
  return {
    type: 'snapshot',
    revision,
    ...split(
      batch.items.map((item) => decode(root, item)),
      {},
    ),
  };
}

function toChange(root: string, change: Change): ObjectChange {
  if (change.type === 'delete')
    return { type: 'delete', reference: referenceOfKey(root, change.key), revision: change.revision };
  return toPut(root, change.item);
}

function toPut(root: string, item: Item): ObjectChange {
  const { stored, unreadable } = decode(root, item);
  return unreadable === undefined ? { type: 'put', stored } : { type: 'unreadable', unreadable };
}

const split = (
  decoded: readonly ReturnType<typeof decode>[],
  options: ListOptions,
): Omit<ObjectListing, 'revision'> => ({
  objects: decoded.flatMap(({ stored }) =>
    stored !== undefined && selects(options, referenceOf(stored.object)) ? [stored] : [],
  ),
  unreadable: decoded.flatMap(({ unreadable }) =>
    unreadable !== undefined && selects(options, unreadable.reference) ? [unreadable] : [],
  ),
});
