/** Keeps NetNamespaces and HostSubnets as the cluster needs them, for as long as there is a ClusterNetwork. */
import type { ClusterAccess } from '@podwire/cluster-ipam/operations';
import { applyPlan, type ClusterPlan, type Cursors, planCluster } from '@podwire/cluster-sdn';
import { PodwireError } from '@podwire/errors';
import { DecodeCache, type ObjectCache } from '@podwire/objects';
import { type Log, pause, Workqueue } from '@podwire/platform';
import type { Counters } from '../metrics.js';
import { readSdnCluster } from './read-cluster.js';
import { watchSdnInputs } from './watch-inputs.js';

export interface SdnLoopOptions {
  /** With the leader's fence as guard. */
  readonly access: ClusterAccess;
  readonly log: Log;
  readonly counters: Pick<Counters, 'failures' | 'sdnPlans' | 'sdnChanges'>;
}

/** Milliseconds in which changes are gathered, and until a failed plan is tried again. */
const gatherFor = 5;
const backoff = { first: 100, longest: 10_000 } as const;
/** Milliseconds until watches are opened again that the store has refused. */
const watchAgainAfter = 30_000;
/** How many of a kind a log line names. */
const mostNamed = 5;

/** The one key of the queue. */
const planKey = 'plan';

export class SdnLoop {
  readonly #options: SdnLoopOptions;
  readonly #cache: ObjectCache = new DecodeCache();
  #cursors: Cursors | undefined;
  #problems: readonly string[] = [];

  constructor(options: SdnLoopOptions) {
    this.#options = options;
  }

  /** Of the last plan, each with its code in front: `SDN_EXHAUSTED: no VNID is free for the namespace shop`. */
  get problems(): readonly string[] {
    return this.#problems;
  }

  /** Until the signal aborts. What goes wrong here is logged and tried again, so that the rest of the controller goes on. */
  async run(signal: AbortSignal): Promise<void> {
    const { access, counters, log } = this.#options;
    const queue = this.#createQueue();
    try {
      while (!signal.aborted) {
        try {
          await watchSdnInputs(access, () => queue.add(planKey), signal);
        } catch (err) {
          if (signal.aborted) return;
          counters.failures++;
          log.error({ err }, 'the objects of OpenShift SDN cannot be watched; it is tried again');
          await pause(access.clock, watchAgainAfter, signal);
        }
      }
    } finally {
      await queue.stop();
    }
  }

  #createQueue(): Workqueue<typeof planKey> {
    const { access, counters, log } = this.#options;
    return new Workqueue({
      reconcile: (_, signal) => this.#plan(signal),
      onError: (err) => {
        counters.failures++;
        log.warn({ err }, 'NetNamespaces and HostSubnets could not be brought in order; it is tried again');
      },
      clock: access.clock,
      delay: gatherFor,
      backoff,
      holdBackoff: true,
    });
  }

  /** @throws PodwireError STORE_CONFLICT when another writer was faster, or the leadership is lost; as the store does */
  async #plan(signal: AbortSignal): Promise<void> {
    const { access, counters } = this.#options;
    const look = await readSdnCluster(access, this.#cache, signal);
    if (look === undefined) return this.#report([]);
    const plan = planCluster(look.cluster, this.#cursors);
    counters.sdnPlans++;
    this.#report(plan.problems);
    if (plan.changes.length === 0) return;
    if (!(await applyPlan(plan, look.snapshot, { ...access, signal })))
      throw new PodwireError('STORE_CONFLICT', 'what the plan depends on has changed in the meantime');
    this.#cursors = plan.cursors;
    counters.sdnChanges += plan.changes.length;
    this.#logChanges(plan);
  }

  #logChanges({ changes }: ClusterPlan): void {
    const first = changes.slice(0, mostNamed).map(({ before, after, reason }) => {
      const { kind, metadata } = after ?? before.object;
      return `${kind} ${metadata.name}: ${reason}`;
    });
    this.#options.log.info({ count: changes.length, first }, 'NetNamespaces and HostSubnets are in order');
  }

  /** Logs problems when they are others than before. */
  #report(problems: readonly PodwireError[]): void {
    const before = this.#problems;
    this.#problems = problems.map(({ code, message }) => `${code}: ${message}`);
    const { length } = this.#problems;
    if (length === before.length && this.#problems.every((text, index) => text === before[index])) return;
    const { log } = this.#options;
    if (length === 0) log.info({}, 'the problems with VNIDs and subnets are solved');
    else
      log.warn(
        { count: length, first: this.#problems.slice(0, mostNamed) },
        'there are problems with VNIDs or subnets that an administrator has to solve',
      );
  }
}
