/** Tools for cases. */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { type ErrorCode, PodwireError } from '@podwire/errors';
import type { Change, Item, Revision, Store, WatchBatch, WatchOptions, Write } from '../contract.js';
import type { CaseContext } from './target.js';

/** Long enough for anything on a busy machine; what takes longer hangs. */
const patience = 45_000;

export async function inTime<T>(what: string, work: Promise<T>): Promise<T> {
  const over = new AbortController();
  const late = delay(patience, undefined, { signal: over.signal }).then(() =>
    Promise.reject(new Error(`waited in vain for ${what}`)),
  );
  late.catch(() => undefined);
  try {
    return await Promise.race([work, late]);
  } finally {
    over.abort();
  }
}

export async function assertFails(work: () => Promise<unknown>, code: ErrorCode): Promise<PodwireError> {
  const error = await work().then(
    () => assert.fail(`it went well instead of failing with ${code}`),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof PodwireError)) throw error;
  assert.equal(error.code, code, error.message);
  return error;
}

export const put = (key: string, value: string, lease?: string): Write =>
  lease === undefined ? { op: 'put', key, value } : { op: 'put', key, value, lease };

/** @throws when the transaction is not committed. @returns its revision */
export async function write(store: Store, writes: readonly Write[]): Promise<Revision> {
  const outcome = await store.transact({ conditions: [], writes });
  return outcome.committed ? outcome.revision : assert.fail('without conditions it was not committed');
}

/** Keys below the folder, with their values. */
export async function contents(store: Store, folder: string): Promise<Record<string, string>> {
  return byName(folder, (await store.list(folder)).items);
}

export const byName = (folder: string, items: Iterable<Item>): Record<string, string> =>
  Object.fromEntries(Array.from(items, ({ key, value }) => [key.slice(folder.length), value]));

/** Waits, letting time pass, until something is so. */
export async function until(context: CaseContext, what: string, isSo: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + patience;
  while (!(await isSo())) {
    if (performance.now() > end) assert.fail(`waited in vain for ${what}`);
    await pause(context, 50);
  }
}

export const pause = ({ pass }: CaseContext, milliseconds: number): Promise<void> =>
  pass === undefined ? delay(milliseconds) : pass(milliseconds);

export interface OpenWatch {
  /** The next batch. @throws when none comes */
  next(): Promise<WatchBatch>;
  /** The first batch, which must be a snapshot. */
  snapshot(): Promise<readonly Item[]>;
  /** So many changes, from as many batches as it takes. */
  changes(count: number): Promise<readonly Change[]>;
  /** Items that the watch has sent so far, put together. */
  readonly copy: ReadonlyMap<string, Item>;
  /** Takes batches until the copy is as `isSo` wants it. */
  until(what: string, isSo: (copy: ReadonlyMap<string, Item>) => boolean): Promise<void>;
  end(): Promise<void>;
}

/** Begins a watch. The caller ends it. */
export function openWatch(store: Store, prefix: string, options: Partial<WatchOptions> = {}): OpenWatch {
  const over = new AbortController();
  const iterator = store.watch(prefix, { signal: over.signal, ...options })[Symbol.asyncIterator]();
  const copy = new Map<string, Item>();
  const next = async (what = `a batch below ${prefix}`): Promise<WatchBatch> => {
    const result = await inTime(what, iterator.next());
    if (result.done === true) assert.fail(`the watch of ${prefix} has ended`);
    apply(copy, prefix, result.value);
    return result.value;
  };
  const snapshot = async (): Promise<readonly Item[]> => {
    const batch = await next();
    if (batch.type !== 'snapshot') assert.fail('the watch does not begin with a snapshot');
    return batch.items;
  };
  const changes = async (count: number): Promise<readonly Change[]> => {
    const found: Change[] = [];
    while (found.length < count) {
      const batch = await next(`${count} changes below ${prefix}, of which ${found.length} came`);
      if (batch.type !== 'changes') assert.fail('a snapshot came instead of changes');
      found.push(...batch.changes);
    }
    return found;
  };
  return {
    next,
    snapshot,
    changes,
    copy,
    until: async (what, isSo) => {
      while (!isSo(copy)) await next(what);
    },
    end: async () => {
      over.abort();
      await iterator.return?.();
    },
  };
}

export async function withWatch(
  store: Store,
  prefix: string,
  options: Partial<WatchOptions>,
  work: (watch: OpenWatch) => Promise<void>,
): Promise<void> {
  const watch = openWatch(store, prefix, options);
  try {
    await work(watch);
  } finally {
    await watch.end();
  }
}

/** Does what a batch says, and checks what every batch must be. */
function apply(copy: Map<string, Item>, prefix: string, batch: WatchBatch): void {
  if (batch.type === 'snapshot') {
    const keys = batch.items.map(({ key }) => key);
    assert.deepEqual(keys, keys.toSorted(), 'a snapshot is in order of keys');
    copy.clear();
  } else assert.notEqual(batch.changes.length, 0, 'a batch of changes has some');
  const changes =
    batch.type === 'changes' ? batch.changes : batch.items.map((item): Change => ({ type: 'put', item }));
  let last = 0;
  for (const change of changes) {
    const { key, revision } = change.type === 'put' ? change.item : change;
    assert.ok(key.startsWith(prefix), `${key} does not begin with ${prefix}`);
    assert.ok(revision <= batch.revision, 'nothing is newer than the batch');
    if (batch.type === 'changes') assert.ok(revision >= last, 'changes come in order');
    last = revision;
    if (change.type === 'put') copy.set(key, change.item);
    else copy.delete(key);
  }
}
