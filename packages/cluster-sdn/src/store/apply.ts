/** Carries a plan out. */
import type { Keys } from '@podwire/cluster-state';
import { encodeStoredObject, objectKey, referenceOf } from '@podwire/objects';
import type { Clock } from '@podwire/platform';
import type { Condition, Expectation, Store, Write } from '@podwire/store';
import type { Change, ClusterPlan } from '../contract.js';
import type { SdnSnapshot } from './read.js';

export interface ApplyOptions {
  readonly store: Pick<Store, 'transact' | 'limits'>;
  readonly keys: Pick<Keys, 'root' | 'sdnGeneration'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly signal: AbortSignal;
  /** Conditions of everything that is written: the fence of a leader. */
  readonly guard?: readonly Condition[];
}

/**
 * Writes the changes in their order, in transactions of as many as the store takes. Each transaction depends on the generation that
 * the look or the transaction before it has seen, and writes it. So nothing is handed out twice, whatever number of controllers plan
 * at the same time: of two that saw the same VNID as free, only one can write.
 * @returns whether all was written; not so when another writer was faster: look again, and plan again
 * @throws PodwireError STORE_UNAVAILABLE, also where a write may have been done: look again, and plan again
 */
export async function applyPlan(
  { changes }: Pick<ClusterPlan, 'changes'>,
  snapshot: SdnSnapshot,
  options: ApplyOptions,
): Promise<boolean> {
  const { store, keys, clock, signal } = options;
  const guard = [...(options.guard ?? []), ...networkCondition(snapshot, keys)];
  const key = keys.sdnGeneration;
  let generation: Expectation = snapshot.generation;
  // One place is for the generation.
  const room = store.limits.operations - guard.length - 1;
  for (const batch of batchesOf(changes, room, options)) {
    const outcome = await store.transact(
      {
        conditions: [...guard, { key, expect: generation }, ...batch.map(({ condition }) => condition)],
        writes: [{ op: 'put', key, value: String(clock.now()) }, ...batch.map(({ write }) => write)],
      },
      { signal },
    );
    if (!outcome.committed) return false;
    generation = outcome.revision;
  }
  return true;
}

/** Ranges and mode must be those of the plan: people change them without the generation. */
const networkCondition = (
  { objects: { clusterNetwork } }: SdnSnapshot,
  { root }: Pick<Keys, 'root'>,
): Condition[] =>
  clusterNetwork === undefined
    ? []
    : [{ key: objectKey(root, referenceOf(clusterNetwork.object)), expect: clusterNetwork.revision }];

interface Step {
  readonly condition: Condition;
  readonly write: Write;
}

/** Far below what etcd (1.5 MiB) and Consul (512 KiB, as base64) take at once. */
const batchBytes = 200_000;

function* batchesOf(
  changes: readonly Change[],
  room: number,
  { keys, clock }: ApplyOptions,
): Generator<readonly Step[]> {
  let batch: Step[] = [];
  let bytes = 0;
  for (const change of changes) {
    const step = toStep(change, keys.root, clock.now());
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

function toStep(change: Change, root: string, now: number): Step {
  const { before, after } = change;
  const key = objectKey(root, referenceOf(change.after ?? change.before.object));
  const condition = { key, expect: before?.revision ?? ('absent' as const) };
  if (after === undefined) return { condition, write: { op: 'delete', key } };
  return {
    condition,
    write: { op: 'put', key, value: encodeStoredObject(after, before?.origin, before?.created ?? now) },
  };
}
