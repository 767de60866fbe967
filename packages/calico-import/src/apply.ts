/** Writes a plan. */
import { PodwireError } from '@podwire/errors';
import type { Clock } from '@podwire/platform';
import type { Condition, Expectation, Revision, Store, Write } from '@podwire/store';
import type { Creation } from './plan/compare.js';
import { errorsOf, type ImportPlan } from './plan/plan.js';
import { describeDiagnostic, listSome } from './diagnostics.js';

export interface ApplyOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Called after each transaction, with how many objects are written. */
  readonly onProgress?: (written: number) => void;
}

/**
 * Writes what is not there yet: allocationRecords, blocks, then pools. Each object only where nothing is, so that cut off at any point the
 * same import goes on where it was.
 * @returns how many objects were written
 * @throws PodwireError IMPORT_INVALID, before anything is written; STORE_CONFLICT when others wrote meanwhile; STORE_UNAVAILABLE
 */
export async function applyImport(plan: ImportPlan, options: ApplyOptions): Promise<number> {
  requireValid(plan);
  const { key } = plan.poolsGeneration;
  let generation: Expectation = plan.poolsGeneration.expect;
  let written = 0;
  for (const batch of batchesOf(plan.creations, options.store)) {
    const isPools = batch[0]?.kind === 'pool';
    const revision = await writeBatch(batch, isPools ? [{ key, expect: generation }] : [], options);
    if (isPools) generation = revision;
    written += batch.length;
    options.onProgress?.(written);
  }
  return written;
}

/** @throws PodwireError IMPORT_INVALID naming everything that is wrong */
export function requireValid(plan: Pick<ImportPlan, 'diagnostics'>): void {
  const errors = errorsOf(plan).map(describeDiagnostic);
  if (errors.length === 0) return;
  const shown = errors.slice(0, 50);
  const more = errors.length > shown.length ? [`and ${errors.length - shown.length} more`] : [];
  throw new PodwireError('IMPORT_INVALID', [...shown, ...more].join('\n'), { details: { problems: errors } });
}

/** Far below what etcd (1.5 MiB) and Consul (512 KiB, as base64) take at once. */
const batchBytes = 200_000;

/** Kinds are not mixed: pools have a condition of their own. */
function batchesOf(creations: readonly Creation[], { limits }: Store): Creation[][] {
  const batches: Creation[][] = [];
  let bytes = 0;
  for (const creation of creations) {
    const batch = batches.at(-1);
    const size = Buffer.byteLength(creation.text);
    // One place is for the generation of pools.
    const isFull = batch === undefined || batch.length >= limits.operations - 1 || bytes + size > batchBytes;
    if (isFull || batch[0]?.kind !== creation.kind) {
      batches.push([creation]);
      bytes = size;
    } else {
      batch.push(creation);
      bytes += size;
    }
  }
  return batches;
}

/**
 * @param generations of pools: two that would overlap cannot be made at the same time, since every change of pools depends on
 * one key and writes it
 */
async function writeBatch(
  batch: readonly Creation[],
  generations: readonly Condition[],
  { store, clock, signal }: ApplyOptions,
): Promise<Revision> {
  const conditions: Condition[] = batch.map(({ key }) => ({ key, expect: 'absent' }));
  const writes: Write[] = batch.map(({ key, text }) => ({ op: 'put', key, value: text }));
  const marks = generations.map(({ key }): Write => ({ op: 'put', key, value: String(clock.now()) }));
  const outcome = await store.transact(
    { conditions: [...conditions, ...generations], writes: [...writes, ...marks] },
    { signal },
  );
  if (outcome.committed) return outcome.revision;
  const taken = batch.filter((_, at) => outcome.found[at] !== undefined).map(({ object }) => object);
  const what = taken.length > 0 ? `${listSome(taken)} came into being` : 'pools were changed';
  throw new PodwireError(
    'STORE_CONFLICT',
    `${what} while the import was written; import again: it goes on where it was`,
  );
}
