/** Keeps Kube-OVN's objects and the logical network as the cluster needs them. */
import type { ClusterAccess } from '@podwire/cluster-ipam/operations';
import { type OvnPlan, planOvnCluster, type SubnetCursors } from '@podwire/cluster-ovn';
import { describeError, PodwireError } from '@podwire/errors';
import { type AnyObject, toKeyWrite, writeKeys } from '@podwire/objects';
import { type Log, pause, Workqueue } from '@podwire/platform';
import type { LogicalNetwork } from './logical-network.js';
import { writeAnswer } from './pod-records.js';
import { createLookCaches, ovnPrefixes, type OvnView, readOvnCluster } from './read-cluster.js';

export interface OvnLoopOptions {
  /** With the leader's fence as guard. */
  readonly access: ClusterAccess;
  readonly network: LogicalNetwork;
  /** Objects that are made where they are missing. */
  readonly defaults: readonly AnyObject[];
  /** `geneve` or `vxlan`, as pods learn it. */
  readonly encapsulation: string;
  readonly log: Log;
}

/** Milliseconds in which changes are gathered, and until a failed plan is tried again. */
const gatherFor = 5;
const backoff = { first: 100, longest: 10_000 } as const;
/** Milliseconds until watches are opened again that the store has refused. */
const watchAgainAfter = 30_000;
/** Milliseconds between looks for what others have changed in the database; also where two programs repair against each other. */
const readDriftEvery = 500;
/** Milliseconds after which all of the database is looked at without a hint. */
const reconcileEvery = 60_000;
/** How many of a kind a log line names. */
const mostNamed = 5;

/** The one key of the queue. */
const planKey = 'plan';

export class OvnLoop {
  readonly #options: OvnLoopOptions;
  readonly #caches = createLookCaches();
  #cursors: SubnetCursors | undefined;
  #isReconcileDue = true;
  #problems: readonly string[] = [];

  constructor(options: OvnLoopOptions) {
    this.#options = options;
  }

  /** Of the last plan, each with its code in front: `OVN_CONFLICT: Subnet blue: spec.vpc: there is no Vpc red`. */
  get problems(): readonly string[] {
    return this.#problems;
  }

  /** Until the signal aborts. What goes wrong is logged and tried again. */
  async run(signal: AbortSignal): Promise<void> {
    const { access } = this.#options;
    const queue = this.#createQueue();
    const watches = Object.values(ovnPrefixes(access.keys)).map((prefix) =>
      this.#watch(prefix, () => queue.add(planKey), signal),
    );
    try {
      await Promise.all([...watches, this.#watchDatabase(() => queue.add(planKey), signal)]);
    } finally {
      await queue.stop();
    }
  }

  async #watch(prefix: string, onChange: () => void, signal: AbortSignal): Promise<void> {
    const { access, log } = this.#options;
    while (!signal.aborted) {
      try {
        for await (const _ of access.store.watch(prefix, { signal })) onChange();
      } catch (err) {
        if (signal.aborted) return;
        log.error({ err, prefix }, 'the objects of Kube-OVN cannot be watched; it is tried again');
        await pause(access.clock, watchAgainAfter, signal);
      }
    }
  }

  async #watchDatabase(onDrift: () => void, signal: AbortSignal): Promise<void> {
    const { network, access } = this.#options;
    const { clock } = access;
    let next = clock.elapsed() + reconcileEvery;
    while (!signal.aborted) {
      await pause(clock, readDriftEvery, signal);
      if (!network.readDrift() && clock.elapsed() < next) continue;
      next = clock.elapsed() + reconcileEvery;
      this.#isReconcileDue = true;
      onDrift();
    }
  }

  #createQueue(): Workqueue<typeof planKey> {
    const { access, log } = this.#options;
    return new Workqueue({
      reconcile: (_, signal) => this.#plan(signal),
      onError: (err) =>
        log.warn({ err }, 'the logical network could not be brought in order; it is tried again'),
      clock: access.clock,
      delay: gatherFor,
      backoff,
      holdBackoff: true,
    });
  }

  /** @throws PodwireError STORE_CONFLICT when another writer was faster, or the leadership is lost; BACKEND_SILENT */
  async #plan(signal: AbortSignal): Promise<void> {
    const view = await readOvnCluster(this.#options.access, this.#caches, signal);
    const plan = planOvnCluster(view.look, this.#options, this.#cursors);
    await this.#write(plan, view, signal);
    const { network } = this.#options;
    network.take(plan.facts);
    try {
      if (this.#isReconcileDue) await this.#reconcile(view.look.objects.unreadable.length > 0, signal);
      else await network.follow(signal);
    } finally {
      this.#report([...plan.problems, ...network.problems]);
    }
  }

  async #write(plan: OvnPlan, view: OvnView, signal: AbortSignal): Promise<void> {
    const { access, log } = this.#options;
    const { store, keys, clock, guard = [] } = access;
    const { changes, answers, cursors } = plan;
    const writes = [
      ...changes.map((change) => toKeyWrite(change, keys.root, clock.now())),
      ...answers.flatMap((answer) => writeAnswer(answer, view.records.get(answer.id))),
    ];
    if (writes.length === 0) return;
    const generation = { key: keys.ovnGeneration, expect: view.snapshot.generation };
    if (!(await writeKeys(writes, { store, clock, signal, generation, guard })))
      throw new PodwireError('STORE_CONFLICT', 'what the plan depends on has changed in the meantime');
    this.#cursors = cursors;
    const first = changes.slice(0, mostNamed).map(({ before, after, reason }) => {
      const { kind, metadata } = after ?? before.object;
      return `${kind} ${metadata.name}: ${reason}`;
    });
    log.info({ count: writes.length, first }, 'objects of Kube-OVN were written');
  }

  async #reconcile(keepLeftovers: boolean, signal: AbortSignal): Promise<void> {
    const { network, log } = this.#options;
    const changes = await network.reconcile(keepLeftovers, signal);
    this.#isReconcileDue = false;
    if (changes.length === 0) return;
    const first = changes.slice(0, mostNamed).map(({ action, what }) => `${what}: ${action}`);
    log.info({ count: changes.length, first }, 'the logical network was put in order');
  }

  /** Logs problems when they are others than before. */
  #report(errors: readonly unknown[]): void {
    const before = this.#problems;
    this.#problems = [...new Set(errors.map(nameProblem))];
    if (this.#problems.join('\n') === before.join('\n')) return;
    const { log } = this.#options;
    const { length } = this.#problems;
    if (length === 0) log.info({}, 'the problems with subnets and addresses are solved');
    else
      log.warn(
        { count: length, first: this.#problems.slice(0, mostNamed) },
        'there are problems with subnets or addresses that an administrator has to solve',
      );
  }
}

const nameProblem = (error: unknown): string =>
  error instanceof PodwireError ? `${error.code}: ${error.message}` : describeError(error);
