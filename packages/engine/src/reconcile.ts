import { setImmediate } from 'node:timers/promises';
import { type EngineContext, readAhead, type Snapshots, takeSnapshots } from './call.js';
import type { Owned } from './contract.js';
import type { CallOptions, Change, Reconcile, ReconcileOptions } from './engine.js';
import { pruneLeftovers, WantedKeys } from './prune.js';
import { repairOwner, repairTogether } from './repair.js';

/** Makes the node look like `desired`, with nothing else at work; see `Engine.reconcile`. */
export async function reconcileNode(
  context: EngineContext,
  desired: readonly Owned[],
  options: ReconcileOptions,
): Promise<Change[]> {
  const round = new ReconcileRound(context, () => desired);
  const repaired = await round.repair(desired, options);
  return [...repaired, ...(await round.finish(options))];
}

/**
 * One reconcile; see `Engine.startReconcile`. What owners share is read once for all of them. Other work gets its turn
 * between two owners, so what was read may be outdated by then: a drift is looked at again before it is repaired. Owners
 * of independent resources only (peers, by the thousand) are reconciled many at a time.
 */
export class ReconcileRound implements Reconcile {
  readonly #context: EngineContext;
  readonly #wanted: WantedKeys;
  #snapshots: Snapshots;

  /** @param wanted what all owners want at the moment of the call */
  constructor(context: EngineContext, wanted: () => Iterable<Owned>) {
    this.#context = context;
    this.#wanted = new WantedKeys(context.kinds, wanted);
    this.#snapshots = takeSnapshots(context);
  }

  async repair(owners: readonly Owned[], options: CallOptions): Promise<Change[]> {
    const changes: Change[] = [];
    for (const run of splitIntoRuns(this.#context, owners)) {
      options.signal.throwIfAborted();
      changes.push(...(await this.#repairRun(run, options)));
      await setImmediate();
    }
    return changes;
  }

  async finish(options: ReconcileOptions): Promise<Change[]> {
    const changes =
      options.keepLeftovers === true
        ? []
        : await pruneLeftovers(this.#context, this.#wanted, this.#snapshots, options);
    this.#context.faults.reach('reconcile:end');
    return changes;
  }

  async #repairRun({ owners, together }: Run, options: CallOptions): Promise<Change[]> {
    // A little with each run: the keys of thousands at once would hold up everything else.
    for (const { resources } of owners) this.#wanted.note(resources);
    await readAhead(this.#context, this.#snapshots, options.signal);
    if (together) return repairTogether(this.#context, owners, this.#snapshots, options);
    const [owned] = owners;
    const isOwned = (key: string): boolean => this.#wanted.hasNow(key);
    const repaired = await repairOwner(this.#context, owned!, this.#snapshots, isOwned, options);
    // A repair of the node may have cost others something: a table its elements, a link its routes and neighbours.
    if (repaired.length > 0 && owned!.namespace === undefined) this.#snapshots = takeSnapshots(this.#context);
    return repaired;
  }
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
    return kind.independent === true && kind.place(resource) !== 'pod';
  });
}
