/** The one writer of Contiv's state: requests in their order, each one plan and one transaction. */
import { PodwireError } from '@podwire/errors';
import { KeyedMutex, type Log, withDeadline } from '@podwire/platform';
import { type Condition, repeatOnConflict, type Store } from '@podwire/store';
import type { ClusterView, Plan } from '../contract.js';
import { readCluster, type Snapshot } from './read.js';
import { repairItems, requireClaim, writeChanges } from './write.js';

export interface MasterOptions {
  readonly store: Pick<Store, 'list' | 'transact' | 'limits'>;
  /** Conditions of all that is written: the leader's claim. */
  readonly guard: readonly Condition[];
  /** Milliseconds for all that one request does in the store. */
  readonly deadline: number;
  readonly log: Log;
  /** Aborts when the leadership is lost. */
  readonly lost: AbortSignal;
}

const leadsNoMore = (cause: Error): PodwireError =>
  new PodwireError('STORE_UNAVAILABLE', 'this master leads no more', {
    cause,
    action: 'Try again: another master leads as soon as it has the lock in the store.',
  });

/**
 * Keeps the state in memory between requests. A write that fails leaves it unknown what is stored; it is read again then, before
 * the next request.
 */
export class TenantMaster {
  readonly #options: MasterOptions;
  readonly #turn = new KeyedMutex();
  #snapshot: Snapshot | undefined;

  constructor(options: MasterOptions) {
    this.#options = options;
  }

  /** Looks at the state; no request is half done then. @param signal until its turn @throws as `readCluster`, and `look` */
  read<T>(look: (cluster: ClusterView) => T, signal?: AbortSignal): Promise<T> {
    return this.#inTurn(signal, async (either) => look((await this.#load(either)).cluster));
  }

  /**
   * Plans and carries it out. The caller may go while it waits for its turn, and not behind that.
   * @throws PodwireError what the plan refuses, and then nothing is stored; STORE_UNAVAILABLE, STORE_CONFLICT
   */
  write<T>(plan: (cluster: ClusterView) => Plan<T>, signal?: AbortSignal): Promise<T> {
    return this.#inTurn(signal, (either) => repeatOnConflict(() => this.#carryOut(plan, either)));
  }

  async #carryOut<T>(plan: (cluster: ClusterView) => Plan<T>, signal: AbortSignal): Promise<T> {
    const snapshot = await this.#load(signal);
    const { changes, answer } = plan(snapshot.cluster);
    const { store, guard } = this.#options;
    // Unknown until the store has answered.
    this.#snapshot = undefined;
    if (changes.length > 0) await writeChanges(snapshot, changes, { store, guard, signal });
    else await requireClaim({ store, guard, signal });
    this.#snapshot = snapshot;
    return answer(snapshot.cluster);
  }

  async #load(signal: AbortSignal): Promise<Snapshot> {
    if (this.#snapshot !== undefined) return this.#snapshot;
    const { store, guard, log } = this.#options;
    const snapshot = await readCluster(store, signal);
    const repaired = await repairItems(snapshot, { store, guard, signal });
    if (repaired > 0)
      log.warn({ count: repaired }, 'items that follow from others were not as they should be');
    this.#snapshot = snapshot;
    return snapshot;
  }

  #inTurn<T>(signal: AbortSignal | undefined, work: (either: AbortSignal) => Promise<T>): Promise<T> {
    const { lost, deadline } = this.#options;
    return this.#turn.withAll(signal, () =>
      withDeadline(lost, deadline, work, {
        reason: () =>
          new PodwireError('DEADLINE_EXCEEDED', `the store has not answered within ${deadline} ms`),
        // The lock goes with a reason of its own, which says nothing to a caller.
        outerReason: leadsNoMore,
      }),
    );
  }
}
