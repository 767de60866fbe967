/** How operations reach the cluster: every write depends on what was read, and is tried again when others were faster. */
import type { Keys } from '@podwire/cluster-state';
import { PodwireError } from '@podwire/errors';
import type { Clock } from '@podwire/platform';
import type { Condition, Revision, Store, Transaction } from '@podwire/store';

export interface ClusterAccess {
  readonly store: Store;
  readonly keys: Keys;
  readonly clock: Clock;
  /** Of the store's servers, as far as they are known: no pool may have them. */
  readonly storeAddresses?: readonly string[];
  /** Conditions of everything that is written: the fence of a leader. */
  readonly guard?: readonly Condition[];
}

/** After so many conflicts in a row another writer is writing all the time. */
const attempts = 8;

/**
 * Repeats a read-decide-write until its write happens; `undefined` means that something had changed in between.
 * @throws PodwireError STORE_CONFLICT
 */
export async function retryOnConflict<T>(what: string, attempt: () => Promise<T | undefined>): Promise<T> {
  for (let count = 0; count < attempts; count++) {
    const result = await attempt();
    if (result !== undefined) return result;
  }
  throw new PodwireError(
    'STORE_CONFLICT',
    `${what}: others changed the same objects each of ${attempts} times it was tried`,
  );
}

/**
 * Writes under the guard. @returns the revision; undefined when a condition of the transaction did not hold
 * @throws PodwireError STORE_CONFLICT when the guard does not hold: then nothing of what follows may be written either
 */
export async function commit(
  { store, guard = [] }: ClusterAccess,
  { conditions, writes }: Transaction,
  signal: AbortSignal,
): Promise<Revision | undefined> {
  const outcome = await store.transact({ conditions: [...guard, ...conditions], writes }, { signal });
  if (outcome.committed) return outcome.revision;
  for (const [index, { key, expect }] of guard.entries()) {
    const found = outcome.found[index]?.revision ?? 'absent';
    if (found !== expect) throw new PodwireError('STORE_CONFLICT', `${key} is not ours any more`);
  }
  return undefined;
}

/** How many conditions or writes of its own a transaction may have. */
export function roomOf({ store, guard = [] }: ClusterAccess): number {
  return store.limits.operations - guard.length;
}

interface Seen {
  readonly key: string;
  readonly revision: Revision;
}

/** Deletes those that are still as they were seen. @returns how many; the others are left */
export async function deleteUnchanged(
  access: ClusterAccess,
  seen: readonly Seen[],
  signal: AbortSignal,
): Promise<number> {
  let count = 0;
  for (const { key, revision } of seen) {
    const transaction: Transaction = {
      conditions: [{ key, expect: revision }],
      writes: [{ op: 'delete', key }],
    };
    if ((await commit(access, transaction, signal)) !== undefined) count++;
  }
  return count;
}
