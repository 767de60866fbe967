import { setImmediate } from 'node:timers/promises';
import { type EngineContext, takeSnapshots } from './call.js';
import type { Owned } from './contract.js';
import type { Change, ReconcileOptions } from './engine.js';
import { pruneLeftovers } from './prune.js';
import { type IsOwned, repairOwner, repairTogether } from './repair.js';

/**
 * Makes the node look like `desired`; see `Engine.reconcile`. What owners share is read once for all of them. Other
 * work gets its turn between two owners, so what was read may be outdated by then: a drift is looked at again before
 * it is repaired. Owners of independent resources only (peers, by the thousand) are reconciled many at a time.
 */
export async function reconcileNode(
  context: EngineContext,
  desired: readonly Owned[],
  options: ReconcileOptions,
): Promise<Change[]> {
  let snapshots = takeSnapshots(context);
  const changes: Change[] = [];
  const isOwned = lookUpKeys(context, desired);
  for (const run of splitIntoRuns(context, desired)) {
    options.signal.throwIfAborted();
    if (run.together) {
      for (const snapshot of snapshots.values()) await snapshot.readAhead?.();
      changes.push(...(await repairTogether(context, run.owners, snapshots, options)));
    } else {
      const [owned] = run.owners;
      const repaired = await repairOwner(context, owned!, snapshots, isOwned, options);
      changes.push(...(repaired ?? []));
      // A repair of the node may have cost others something: a table its elements, a link its routes and neighbours.
      if (repaired !== undefined && owned!.namespace === undefined) snapshots = takeSnapshots(context);
    }
    await setImmediate();
  }
  if (options.keepLeftovers !== true) changes.push(...(await pruneLeftovers(context, desired, snapshots)));
  context.faults.reach('reconcile:end');
  return changes;
}

/** Made when first needed: most reconciles find nothing. */
function lookUpKeys({ kinds }: EngineContext, desired: readonly Owned[]): IsOwned {
  let keys: Set<string> | undefined;
  return (key) => {
    keys ??= new Set(desired.flatMap(({ resources }) => resources.map((resource) => kinds.keyOf(resource))));
    return keys.has(key);
  };
}

/** Owners that are dealt with in one go, or one that stands alone. */
interface Run {
  readonly owners: readonly Owned[];
  readonly together: boolean;
}

/** Looked at in about a millisecond and made in some ten; in between the rest of the program gets its turn. */
const OWNERS_IN_RUN = 128;

/** Cuts the list into runs, in order. */
function splitIntoRuns(context: EngineContext, desired: readonly Owned[]): Run[] {
  const runs: { owners: Owned[]; together: boolean }[] = [];
  for (const owned of desired) {
    const last = runs.at(-1);
    const together = isIndependent(context, owned);
    if (together && last?.together === true && last.owners.length < OWNERS_IN_RUN) last.owners.push(owned);
    else runs.push({ owners: [owned], together });
  }
  return runs;
}

function isIndependent({ kinds }: EngineContext, { namespace, resources }: Owned): boolean {
  if (namespace !== undefined) return false;
  return resources.every((resource) => {
    const kind = kinds.of(resource);
    return kind.independent === true && kind.place(resource) === 'host';
  });
}
