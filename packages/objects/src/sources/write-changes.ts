/** Writes several objects of a store at once, for controllers that hand something out. */
import type { Clock } from '@podwire/platform';
import type { Condition, Expectation, Revision, Store, Write } from '@podwire/store';
import { type AnyObject, referenceOf, type StoredObject } from '../contract.js';
import { encode, keyOf } from './store-object.js';

/** One key of a store, as it is and as it shall be. */
export interface KeyWrite {
  readonly condition: Condition;
  readonly write: Write;
}

/** An object as it is and as it shall be, of the same name: created without `before`, deleted without `after`. */
export type ObjectWrite =
  | { readonly before: StoredObject; readonly after?: undefined }
  | { readonly before?: StoredObject | undefined; readonly after: AnyObject };

export interface WriteKeysOptions {
  readonly store: Pick<Store, 'transact' | 'limits'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly signal: AbortSignal;
  /** The key that every such writer writes, and its revision at the look that the changes come from. */
  readonly generation: { readonly key: string; readonly expect: Expectation };
  /** Conditions of everything that is written: the fence of a leader. */
  readonly guard?: readonly Condition[];
  /** Called after each transaction: these are in the store, and the generation with them, all of this revision. */
  readonly onWritten?: (written: readonly KeyWrite[], revision: Revision) => void;
}

export interface WriteChangesOptions extends WriteKeysOptions {
  /** The prefix of all keys: `/podwire`. */
  readonly root: string;
}

/** As {@link writeKeys} does. */
export const writeChanges = (
  changes: readonly ObjectWrite[],
  { root, ...options }: WriteChangesOptions,
): Promise<boolean> =>
  writeKeys(
    changes.map((change) => toKeyWrite(change, root, options.clock.now())),
    options,
  );

/**
 * Writes the changes in their order, in transactions of as many as the store takes. Each transaction depends on the generation that
 * the look or the transaction before it has seen, and writes it. So nothing is handed out twice, whatever number of controllers plan
 * at the same time: of two that saw the same thing as free, only one can write.
 * @returns whether all was written; not so when another writer was faster: look again, and plan again
 * @throws PodwireError STORE_UNAVAILABLE, also where a write may have been done: look again, and plan again
 */
export async function writeKeys(
  changes: readonly KeyWrite[],
  { store, clock, signal, guard = [], generation, onWritten }: WriteKeysOptions,
): Promise<boolean> {
  const { key } = generation;
  let { expect } = generation;
  // One place is for the generation.
  const room = store.limits.operations - guard.length - 1;
  for (const batch of batchesOf(changes, room)) {
    const outcome = await store.transact(
      {
        conditions: [...guard, { key, expect }, ...batch.map(({ condition }) => condition)],
        writes: [{ op: 'put', key, value: String(clock.now()) }, ...batch.map(({ write }) => write)],
      },
      { signal },
    );
    if (!outcome.committed) return false;
    expect = outcome.revision;
    onWritten?.(batch, outcome.revision);
  }
  return true;
}

/** Far below what etcd (1.5 MiB) and Consul (512 KiB, as base64) take at once. */
const batchBytes = 200_000;

function* batchesOf(steps: readonly KeyWrite[], room: number): Generator<readonly KeyWrite[]> {
  let batch: KeyWrite[] = [];
  let bytes = 0;
  for (const step of steps) {
    const size = step.write.op === 'put' ? Buffer.byteLength(step.write.value) : 0;
    // A key is written once in a transaction at most: what is replaced goes in one, and comes in the next.
    const isThere = batch.some(({ condition }) => condition.key === step.condition.key);
    if (batch.length > 0 && (isThere || batch.length === room || bytes + size > batchBytes)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(step);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}

/** @param now for the time at which an object that is new was created */
export function toKeyWrite(change: ObjectWrite, root: string, now: number): KeyWrite {
  const { before, after } = change;
  const key = keyOf(root, referenceOf(after ?? change.before.object));
  const condition = { key, expect: before?.revision ?? ('absent' as const) };
  if (after === undefined) return { condition, write: { op: 'delete', key } };
  return {
    condition,
    write: { op: 'put', key, value: encode(after, before?.origin, before?.created ?? now) },
  };
}
