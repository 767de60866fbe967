/** Keeps Kube-OVN's objects and the logical network as the cluster needs them. */
import type { ClusterAccess } from '@podwire/cluster-ipam/operations';
import {
  answerNodes,
  ClusterMemory,
  type OvnPlan,
  OvnPlanner,
  type SubnetCursors,
} from '@podwire/cluster-ovn';
import { describeError, PodwireError } from '@podwire/errors';
import {
  type AnyObject,
  type KeyWrite,
  toKeyWrite,
  writeKeys,
  type WriteKeysOptions,
} from '@podwire/objects';
import { type FaultPoints, hasCode, type Log, noFaults, pause, Workqueue } from '@podwire/platform';
import type { PlannedObjects } from './kubernetes/cluster-view.js';
import type { KubernetesSide } from './kubernetes/kubernetes-side.js';
import { listRecordWrites } from './kubernetes/record-writes.js';
import type { LogicalNetwork } from './logical-network.js';
import { writeAnswer } from './pod-records.js';
import { PodNews } from './pod-news.js';
import { StrandedPods, toRemoval } from './stranded-pods.js';

export interface OvnLoopOptions {
  /** With the leader's fence as guard. */
  readonly access: ClusterAccess;
  readonly network: Pick<
    LogicalNetwork,
    'claim' | 'problems' | 'isInPlace' | 'readDrift' | 'take' | 'takePods' | 'follow' | 'reconcile'
  >;
  /** Objects that are made where they are missing. */
  readonly defaults: readonly AnyObject[];
  /** `geneve` or `vxlan`, as pods learn it. */
  readonly encapsulation: string;
  /** Where pods come from an API server. Nothing is planned before all of its lists are there. */
  readonly kubernetes?:
    | Pick<
        KubernetesSide,
        'view' | 'missing' | 'untilSynced' | 'listen' | 'noteApplied' | 'noteWaiting' | 'noteLabels'
      >
    | undefined;
  readonly log: Log;
  /** Of this leader in the northbound database; no other one has the name. */
  readonly writer: string;
  /** Of tests. None by default. */
  readonly faults?: FaultPoints | undefined;
}

/** Until a failed plan is tried again, in milliseconds. */
const backoff = { first: 100, longest: 10_000 } as const;
/** Milliseconds until a watch is opened again that the store has refused. */
const watchAgainAfter = 30_000;
/** Milliseconds between looks for what others have changed in the database; also where two programs repair against each other. */
const readDriftEvery = 500;
/** Milliseconds after which all of the store and of the database is looked at without a hint. */
const reconcileEvery = 60_000;
/** Milliseconds in which changes are gathered that the status of objects says something about. */
const statusAfter = 1_000;
/** How many of a kind a log line names. */
const mostNamed = 5;

/** Keys of the queue, which are worked on one at a time. */
type Work = 'plan' | 'status';

export class OvnLoop {
  readonly #options: OvnLoopOptions;
  readonly #memory: ClusterMemory;
  readonly #stranded: StrandedPods;
  readonly #queue: Workqueue<Work>;
  readonly #faults: FaultPoints;
  /** Of what is in memory, but for changes since the last plan. */
  #planner: OvnPlanner | undefined;
  #cursors: SubnetCursors | undefined;
  /** Of an API server, as the planner knows it. */
  #planned: PlannedObjects | undefined;
  readonly #news = new PodNews();
  #watching = new AbortController();
  #watches: Promise<void> = Promise.resolve();
  #isReconcileDue = true;
  #problems: readonly string[] = [];

  constructor(options: OvnLoopOptions) {
    this.#options = options;
    this.#faults = options.faults ?? noFaults;
    this.#memory = new ClusterMemory(options.access);
    this.#stranded = new StrandedPods(options.access.clock);
    this.#queue = this.#createQueue();
  }

  /**
   * Of the last plan, each with its code in front: `OVN_CONFLICT: Subnet blue: spec.vpc: there is no Vpc red`. Before the first plan:
   * lists that it waits for.
   */
  get problems(): readonly string[] {
    return [...(this.#options.kubernetes?.missing ?? []), ...this.#problems];
  }

  /** Once, until the signal aborts. What goes wrong is logged and tried again. */
  async run(signal: AbortSignal): Promise<void> {
    const { kubernetes } = this.#options;
    await kubernetes?.untilSynced(signal);
    this.#queue.add('plan');
    kubernetes?.listen(() => this.#queue.add('plan'));
    try {
      await this.#watchDatabase(signal);
    } finally {
      await this.#queue.stop();
      await this.#unwatch();
    }
  }

  async #watchDatabase(signal: AbortSignal): Promise<void> {
    const { network, access } = this.#options;
    const { clock } = access;
    let next = clock.elapsed() + reconcileEvery;
    while (!signal.aborted) {
      await pause(clock, readDriftEvery, signal);
      if (!network.readDrift() && clock.elapsed() < next) continue;
      next = clock.elapsed() + reconcileEvery;
      this.#isReconcileDue = true;
      this.#queue.add('plan');
    }
  }

  #createQueue(): Workqueue<Work> {
    const { access, log } = this.#options;
    return new Workqueue({
      reconcile: (work, signal) => (work === 'plan' ? this.#plan(signal) : this.#writeStatuses(signal)),
      onError: (err) =>
        log.warn({ err }, 'the logical network could not be brought in order; it is tried again'),
      clock: access.clock,
      backoff,
      holdBackoff: true,
    });
  }

  /** @throws PodwireError STORE_CONFLICT when another writer was faster, or the leadership is lost; BACKEND_SILENT */
  async #plan(signal: AbortSignal): Promise<void> {
    if (this.#isReconcileDue) this.#memory.lose();
    let planner = await this.#catchUp(signal);
    if (await this.#followPods(signal)) planner = await this.#catchUp(signal);
    if (this.#isReconcileDue) await this.#removeStranded(signal);
    const plan = planner.plan();
    this.#faults.reach('plan:made');
    await this.#write(plan, signal);
    this.#cursors = plan.cursors;
    if (planner.hasNewStatus) this.#queue.addAfter('status', statusAfter);
    const { network } = this.#options;
    try {
      await this.#apply(planner, signal);
    } finally {
      const unreadable = this.#options.kubernetes?.view.problems ?? [];
      this.#report([...[...plan.problems, ...network.problems].map(nameProblem), ...unreadable]);
    }
  }

  /** @throws PodwireError STORE_CONFLICT when another controller has the database, or it was emptied; BACKEND_SILENT */
  async #apply(planner: OvnPlanner, signal: AbortSignal): Promise<void> {
    try {
      if (this.#isReconcileDue) await this.#reconcile(planner.hasUnreadable, signal);
      else await this.#options.network.follow(signal);
      this.#faults.reach('plan:applied');
    } catch (error) {
      if (hasCode(error, 'STORE_CONFLICT')) this.#isReconcileDue = true;
      // Annotations are the successor's by now, where there is one.
      else this.#announce(planner);
      throw error;
    }
    this.#announce(planner);
  }

  /** Records of pods follow the API server. @returns whether any was written */
  async #followPods(signal: AbortSignal): Promise<boolean> {
    const { kubernetes, access } = this.#options;
    if (kubernetes === undefined) return false;
    const { view } = kubernetes;
    const sources = { view, memory: this.#memory, keys: access.keys, now: access.clock.now() };
    const writes = listRecordWrites(view.takeDue(), sources);
    if (writes.length > 0) await this.#writeKeys(writes, signal);
    return writes.length > 0;
  }

  /** Pods whose rows are there are told so in their annotations, whatever became of others. */
  #announce(planner: OvnPlanner): void {
    const { kubernetes, network } = this.#options;
    const { records, isAll, waiting } = this.#news.take((id) => network.isInPlace(id));
    kubernetes?.noteApplied(records, isAll ? answerNodes(planner.facts) : undefined);
    kubernetes?.noteWaiting(waiting);
  }

  /** Apart from the plan: no pod waits for its address until counts are written. @throws PodwireError STORE_CONFLICT */
  async #writeStatuses(signal: AbortSignal): Promise<void> {
    const planner = await this.#catchUp(signal);
    // News beside the status is for that.
    this.#queue.add('plan');
    if (!planner.hasNewStatus) return;
    const { access, kubernetes } = this.#options;
    const networks = this.#memory.networks();
    const changes = planner.planStatuses(networks, access.clock.now());
    await this.#write({ changes, answers: [] }, signal);
    // Behind the write: one who was succeeded has failed at it.
    kubernetes?.noteLabels(planner.nodeLabels(networks));
  }

  /** Brings the planner, and the facts of the network, to what is in memory. @returns the planner */
  async #catchUp(signal: AbortSignal): Promise<OvnPlanner> {
    if (this.#memory.isLost) await this.#look(signal);
    const { network, kubernetes } = this.#options;
    const changes = this.#memory.takeChanges();
    kubernetes?.view.noteDue(changes?.pods.keys() ?? 'all');
    if (kubernetes?.view.planned !== this.#planned) this.#planner = undefined;
    const pods = changes && this.#planner?.follow(changes);
    if (pods === undefined || this.#planner === undefined) return this.#begin();
    network.takePods(pods);
    for (const id of pods.keys()) this.#news.note(id, this.#memory.podRecord(id)?.record);
    return this.#planner;
  }

  /** With all that is in memory. */
  #begin(): OvnPlanner {
    const { network, kubernetes } = this.#options;
    this.#planned = kubernetes?.view.planned;
    const options = { ...this.#options, ...this.#planned };
    const planner = new OvnPlanner(this.#memory.view(), options, this.#cursors);
    network.take(planner.facts);
    this.#news.begin(this.#memory.listPodRecords());
    this.#planner = planner;
    return planner;
  }

  /** At everything. Changes from there on come by a watch. */
  async #look(signal: AbortSignal): Promise<void> {
    await this.#unwatch();
    this.#planner = undefined;
    await this.#memory.list(signal);
    this.#options.kubernetes?.view.noteDue('all');
    this.#watching = new AbortController();
    const onChange = (): void => this.#queue.add('plan');
    const onError = (err: unknown, prefix: string): void => {
      const { log } = this.#options;
      log.error({ err, prefix }, 'the objects of Kube-OVN cannot be watched; it is tried again');
      this.#queue.addAfter('plan', watchAgainAfter);
    };
    this.#watches = this.#memory.follow({ onChange, onError }, this.#watching.signal);
  }

  async #unwatch(): Promise<void> {
    this.#watching.abort();
    await this.#watches;
  }

  async #write(
    { changes, answers }: Pick<OvnPlan, 'changes' | 'answers'>,
    signal: AbortSignal,
  ): Promise<void> {
    const { access, log } = this.#options;
    const { keys, clock } = access;
    const writes = [
      ...changes.map((change) => toKeyWrite(change, keys.root, clock.now())),
      ...answers.flatMap((answer) => writeAnswer(answer, this.#memory.podRecord(answer.id))),
    ];
    if (writes.length === 0) return;
    await this.#writeKeys(writes, signal);
    // The next plan has it as facts.
    this.#queue.add('plan');
    const first = changes.slice(0, mostNamed).map(({ before, after, reason }) => {
      const { kind, metadata } = after ?? before.object;
      return `${kind} ${metadata.name}: ${reason}`;
    });
    log.info({ count: writes.length, first }, 'objects of Kube-OVN were written');
  }

  /** The next plan takes away their addresses and ports. */
  async #removeStranded(signal: AbortSignal): Promise<void> {
    const given = this.#stranded.select(this.#memory.listStranded());
    if (given.length === 0) return;
    await this.#writeKeys(given.map(toRemoval), signal);
    this.#queue.add('plan');
    const first = given.slice(0, mostNamed).map(({ record }) => `${record.namespace}/${record.name}`);
    this.#options.log.warn({ count: given.length, first }, 'pods of nodes that are gone were given up');
  }

  async #writeKeys(writes: readonly KeyWrite[], signal: AbortSignal): Promise<void> {
    const { store, keys, clock, guard = [] } = this.#options.access;
    const memory = this.#memory;
    const generation = { key: keys.ovnGeneration, expect: memory.generation };
    const onWritten: WriteKeysOptions['onWritten'] = (written, revision) => {
      this.#faults.reach('plan:written');
      memory.note(written, revision);
    };
    let isWritten = false;
    try {
      isWritten = await writeKeys(writes, { store, clock, signal, generation, guard, onWritten });
    } finally {
      if (!isWritten) memory.lose();
    }
    if (!isWritten)
      throw new PodwireError('STORE_CONFLICT', 'what the plan depends on has changed in the meantime');
  }

  /** A leader that was stopped, and goes on, may have a successor. @throws PodwireError STORE_CONFLICT */
  async #checkLead(signal: AbortSignal): Promise<void> {
    const { store, guard = [] } = this.#options.access;
    for (const { key, expect } of guard) {
      const found = await store.get(key, { signal });
      if (found?.revision !== expect) throw new PodwireError('STORE_CONFLICT', 'another controller leads');
    }
  }

  async #reconcile(keepLeftovers: boolean, signal: AbortSignal): Promise<void> {
    const { network, log, writer } = this.#options;
    await this.#checkLead(signal);
    await network.claim(writer, signal);
    this.#faults.reach('plan:claimed');
    // A leader that was stopped before its claim has just taken the database from its successor.
    await this.#checkLead(signal);
    const changes = await network.reconcile(keepLeftovers, signal);
    this.#isReconcileDue = false;
    if (changes.length === 0) return;
    const first = changes.slice(0, mostNamed).map(({ action, what }) => `${what}: ${action}`);
    log.info({ count: changes.length, first }, 'the logical network was put in order');
  }

  /** Logs problems when they are others than before. */
  #report(problems: readonly string[]): void {
    const before = this.#problems;
    this.#problems = [...new Set(problems)].sort();
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
