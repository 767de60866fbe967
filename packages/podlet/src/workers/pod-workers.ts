/** One worker per pod UID, which owns all of the pod's life; the kubelet's pod_workers. */
import { setMaxListeners } from 'node:events';
import { describeError, PodwireError } from '@podwire/errors';
import { type Pod, podName } from '@podwire/pod-spec';
import type { PodEvent, PodEventType } from '../contract.js';
import { collectable } from '../lifecycle/garbage.js';
import type { EarlierResult } from '../lifecycle/earlier-results.js';
import { isTerminal } from '../lifecycle/phase.js';
import { isStopped } from '../lifecycle/stopped.js';
import type { PodLabels } from '../runtime/labels.js';
import { refreshStatus } from '../sync/status-manager.js';
import { jittered, type StatusSink, type SyncDependencies } from '../sync/sync-context.js';
import { syncOnce } from '../sync/sync-pod.js';
import { admit } from './admit.js';
import { askForRestart } from './ask-for-restart.js';
import {
  type ArrivalTimes,
  createWorkerState,
  type KillRequest,
  orphanPod,
  type TraceDependencies,
  type WorkerState,
} from './worker-state.js';

export interface PodWorkersOptions {
  readonly dependencies: SyncDependencies & TraceDependencies;
  readonly sink: StatusSink;
  /** Results of probes by uid that an earlier process has left. */
  readonly earlierResults?: ReadonlyMap<string, readonly EarlierResult[]>;
  /** While false, no sync begins. */
  readonly mayRun: () => boolean;
  readonly onChange: (worker: WorkerState) => void;
  readonly onGone: (worker: WorkerState) => void;
  readonly onEvent?: (worker: WorkerState, event: PodEvent) => void;
}

/** A worker and its schedule. */
interface Entry {
  readonly state: WorkerState;
  readonly stop: AbortController;
  /** Of the sync that is running. */
  sync: AbortController | undefined;
  running: Promise<void> | undefined;
  /** Another sync is due at once. */
  pending: boolean;
  collect: boolean;
  /** By `clock.elapsed`. */
  dueAt: number;
  /** After an error. By `clock.elapsed`. */
  backOffUntil: number;
  /** Syncs in a row without a pause between them. */
  spins: number;
}

/** A sync that changes nothing but always asks for another one would keep a core busy. */
const maxSpins = 20;

export class PodWorkers {
  readonly #options: PodWorkersOptions;
  readonly #dependencies: PodWorkersOptions['dependencies'];
  readonly #entries = new Map<string, Entry>();
  /** Name → uid. Of two pods with the same name, the second begins when the first is gone. */
  readonly #names = new Map<string, string>();
  #closed = false;

  constructor(options: PodWorkersOptions) {
    this.#options = options;
    this.#dependencies = options.dependencies;
  }

  /** A source wants the pod. `wake`: something about it has to be done. */
  update(pod: Pod, times: ArrivalTimes, wake: boolean): void {
    const { uid } = pod.metadata;
    this.#followStop(pod);
    const known = this.#entries.get(uid);
    if (known === undefined) this.#add(pod, false, times);
    else if (known.state.kill !== undefined && (known.state.removed || known.state.orphan)) {
      known.state.successor = pod;
    } else {
      known.state.pod = pod;
      if (wake) known.state.arrivedAt = times.arrivedAt;
    }
    const entry = this.#entries.get(uid)!;
    const kill = killOf(pod);
    if (kill !== undefined) requestKill(entry, kill);
    if (wake) this.#wake(entry);
    else this.#updateStatus(entry.state);
  }

  /** No source wants it any more. */
  remove(uid: string): void {
    const entry = this.#entries.get(uid);
    if (entry === undefined) return;
    entry.state.removed = true;
    entry.state.successor = undefined;
    if (entry.state.gone && entry.running === undefined) {
      this.#forget(entry);
      return;
    }
    requestKill(entry, { why: 'no source has it any more' });
    this.#wake(entry);
  }

  /**
   * Starts containers of a pod anew in its sandbox; a pod that has ended begins anew as a whole.
   * @param names of the containers
   */
  restart(uid: string, names: readonly string[]): void {
    const entry = this.#entries.get(uid);
    if (entry === undefined || entry.state.kill !== undefined) return;
    if (isTerminal(entry.state.status.phase)) {
      const { pod } = entry.state;
      this.remove(uid);
      this.update(pod, this.#timesNow(), true);
      return;
    }
    askForRestart(entry.state, this.#dependencies.view.observed(uid), names);
    this.#wake(entry);
  }

  /** A pod that people have stopped does not wait for what is being done to start it; one that they let go begins anew. */
  #followStop(pod: Pod): void {
    const entry = this.#entries.get(pod.metadata.uid);
    if (entry === undefined || isStopped(entry.state.pod) === isStopped(pod)) return;
    if (isStopped(pod)) {
      entry.sync?.abort(new PodwireError('AGENT_NOT_READY', 'The pod is stopped.'));
    } else if (entry.state.kill === undefined) this.remove(pod.metadata.uid);
  }

  /** A pod that is in the runtime and in no source: it is taken down. */
  adoptOrphan(labels: PodLabels): void {
    if (this.#entries.has(labels.uid)) return;
    const entry = this.#add(orphanPod(labels), true, this.#timesNow());
    // It has the name already, whichever pod reserved it.
    this.#names.set(podName(entry.state.pod), labels.uid);
    entry.state.removed = true;
    requestKill(entry, { why: 'no source wants it' });
    this.#wake(entry);
  }

  /** Its observed state has changed. After an error only the status is updated: its own failure may be the change. */
  enqueue(uid: string): void {
    const entry = this.#entries.get(uid);
    if (entry === undefined) return;
    const backsOff = this.#dependencies.clock.elapsed() < entry.backOffUntil;
    if (entry.running === undefined && backsOff) this.#updateStatus(entry.state);
    else this.#wake(entry);
  }

  /** Starts the workers whose pause is over. */
  tick(): void {
    const now = this.#dependencies.clock.elapsed();
    for (const entry of this.#entries.values()) {
      if (entry.dueAt <= now) entry.state.stale = true;
      if (entry.dueAt <= now || entry.collect) this.#wake(entry);
    }
  }

  wakeAll(): void {
    for (const entry of this.#entries.values()) if (entry.pending) this.#start(entry);
  }

  /** Also for events from outside the worker: probes. */
  recordEvent(uid: string, type: PodEventType, reason: string, message: string): void {
    const entry = this.#entries.get(uid);
    if (entry !== undefined) this.#recordEvent(entry.state, type, reason, message);
  }

  /** The API server does not take the status of a pod, or takes it again: then there is no message. */
  noteStatusRefusal(uid: string, message: string | undefined): void {
    const state = this.#entries.get(uid)?.state;
    if (state === undefined) return;
    state.statusRefusal = message;
    if (message === undefined) this.#options.onChange(state);
    else
      this.#recordEvent(state, 'Warning', 'StatusRefused', `The API server refuses its status: ${message}`);
  }

  collectGarbage(): void {
    for (const entry of this.#entries.values()) {
      const { containers, sandboxes } = collectable(this.#dependencies.view.observed(entry.state.uid), true);
      entry.collect = containers.length + sandboxes.length > 0;
    }
  }

  get(uid: string): WorkerState | undefined {
    return this.#entries.get(uid)?.state;
  }

  isSyncing(uid: string): boolean {
    return this.#entries.get(uid)?.running !== undefined;
  }

  all(): WorkerState[] {
    return [...this.#entries.values()].map(({ state }) => state);
  }

  /** Pods stay as they are. */
  async close(): Promise<void> {
    this.#closed = true;
    const why = new PodwireError('AGENT_NOT_READY', 'The pod agent is stopping.');
    for (const { sync, stop } of this.#entries.values()) {
      sync?.abort(why);
      stop.abort(why);
    }
    await Promise.all([...this.#entries.values()].flatMap(({ running }) => running ?? []));
  }

  #timesNow(): ArrivalTimes {
    const now = this.#dependencies.preciseNow();
    return { causedAt: now, mergedAt: now, arrivedAt: now };
  }

  #add(pod: Pod, orphan: boolean, times: ArrivalTimes): Entry {
    const earlierResults = this.#options.earlierResults?.get(pod.metadata.uid) ?? [];
    const state = createWorkerState(this.#dependencies, { pod, orphan, times, earlierResults });
    const entry: Entry = {
      state,
      stop: new AbortController(),
      sync: undefined,
      running: undefined,
      pending: false,
      collect: false,
      dueAt: Infinity,
      backOffUntil: 0,
      spins: 0,
    };
    this.#entries.set(state.uid, entry);
    if (this.#isKnown(state)) refreshStatus(state, this.#dependencies);
    this.#publish(state);
    return entry;
  }

  /** A sync is due, now or as soon as the running one is over. */
  #wake(entry: Entry): void {
    entry.pending = true;
    this.#start(entry);
  }

  #start(entry: Entry): void {
    if (entry.running !== undefined || this.#closed || !this.#options.mayRun()) return;
    entry.running = this.#run(entry)
      .catch((err: unknown) => this.#dependencies.log.error({ err }, 'pod worker failed'))
      .finally(() => {
        entry.running = undefined;
        if (entry.pending && this.#isCurrent(entry)) this.#start(entry);
      });
  }

  async #run(entry: Entry): Promise<void> {
    while (entry.pending && !this.#closed && this.#options.mayRun() && this.#isCurrent(entry)) {
      entry.pending = false;
      entry.dueAt = Infinity;
      entry.backOffUntil = 0;
      await this.#sync(entry);
    }
    entry.spins = 0;
  }

  #isCurrent(entry: Entry): boolean {
    return this.#entries.get(entry.state.uid) === entry;
  }

  async #sync(entry: Entry): Promise<void> {
    const sync = new AbortController();
    setMaxListeners(0, sync.signal);
    entry.sync = sync;
    try {
      await this.#syncOrWait(entry, sync.signal);
    } catch (error) {
      if (!this.#closed) this.#retryLater(entry, sync.signal.aborted, error);
    } finally {
      entry.sync = undefined;
    }
  }

  async #syncOrWait(entry: Entry, signal: AbortSignal): Promise<void> {
    const { state } = entry;
    const hasName = this.#reserveName(state.pod);
    // Without its name it never started: leftovers of an earlier process belong to the owner of the name, or are orphans.
    if (!hasName && state.kill === undefined) {
      this.#waitForName(state);
      return;
    }
    const collect = hasName && entry.collect;
    if (hasName) entry.collect = false;
    const result = await syncOnce(this.#contextOf(state, signal), collect);
    if (result.kind === 'gone') this.#end(entry);
    else if (hasName) this.#schedule(entry, result.again, result.pause);
  }

  #contextOf(worker: WorkerState, signal: AbortSignal) {
    return {
      ...this.#dependencies,
      worker,
      signal,
      recordEvent: (type: PodEventType, reason: string, message: string) =>
        this.#recordEvent(worker, type, reason, message),
      admit: () =>
        admit(worker, this.all(), {
          ...this.#dependencies,
          updateStatus: (one) => this.#updateStatus(one),
        }),
      updateStatus: () => this.#updateStatus(worker),
    };
  }

  #reserveName(pod: Pod): boolean {
    const name = podName(pod);
    const owner = this.#names.get(name) ?? pod.metadata.uid;
    if (owner !== pod.metadata.uid) return false;
    this.#names.set(name, owner);
    return true;
  }

  #waitForName(state: WorkerState): void {
    const name = podName(state.pod);
    this.#recordEvent(
      state,
      'Normal',
      'WaitingForName',
      `Another pod named ${name} is still being taken down.`,
    );
    state.stage = 'waiting';
    this.#updateStatus(state);
  }

  #releaseName(entry: Entry): void {
    const name = podName(entry.state.pod);
    if (this.#names.get(name) !== entry.state.uid) return;
    this.#names.delete(name);
    for (const other of this.#entries.values()) {
      if (other !== entry && podName(other.state.pod) === name) this.#wake(other);
    }
  }

  #schedule(entry: Entry, again: boolean, pause: number): void {
    entry.spins = again ? entry.spins + 1 : 0;
    const spinning = entry.spins > maxSpins;
    if (again && !spinning) entry.pending = true;
    this.#wakeAfter(entry, spinning ? this.#dependencies.settings.syncMs : pause);
  }

  /** `tick` wakes after long pauses; short ones have a timer of their own. */
  #wakeAfter(entry: Entry, milliseconds: number): void {
    const { clock, settings } = this.#dependencies;
    entry.dueAt = clock.elapsed() + milliseconds;
    if (milliseconds >= settings.syncMs) return;
    clock.sleep(milliseconds, entry.stop.signal).then(
      () => {
        if (entry.dueAt <= clock.elapsed()) this.#wake(entry);
      },
      () => undefined,
    );
  }

  #retryLater(entry: Entry, interrupted: boolean, err: unknown): void {
    if (interrupted) {
      entry.pending = true;
      return;
    }
    const { settings, random, clock, log } = this.#dependencies;
    const isNetwork = describeError(err).includes('network is not ready');
    const pause = jittered(isNetwork ? settings.networkRetryMs : settings.retryMs, random);
    entry.dueAt = clock.elapsed() + pause;
    entry.backOffUntil = entry.dueAt;
    log.warn({ pod: podName(entry.state.pod), uid: entry.state.uid, err }, 'pod sync failed, will retry');
    this.#updateStatus(entry.state);
  }

  /** The pod is terminated: nothing of it is left on this node. */
  #end(entry: Entry): void {
    const { state } = entry;
    if (!state.orphan) this.#options.sink.terminated(state.pod, state.status);
    this.#releaseName(entry);
    if (state.removed) this.#forget(entry);
  }

  /** Pods that waited for its uid or name begin. */
  #forget(entry: Entry): void {
    const { state } = entry;
    this.#entries.delete(state.uid);
    this.#releaseName(entry);
    this.#options.onGone(state);
    if (state.successor !== undefined) this.update(state.successor, this.#timesNow(), true);
  }

  /** Before the runtime has been listed, a pod that had containers is as it was: its containers are not known yet. */
  #isKnown({ pod: { status } }: WorkerState): boolean {
    return this.#dependencies.view.wasListed || status.containerStatuses.length === 0;
  }

  #updateStatus(worker: WorkerState): void {
    if (this.#isKnown(worker) && refreshStatus(worker, this.#dependencies)) this.#publish(worker);
  }

  #publish(worker: WorkerState): void {
    if (!worker.orphan) this.#options.sink.statusChanged(worker.pod, worker.status);
    this.#options.onChange(worker);
  }

  #recordEvent(worker: WorkerState, type: PodEventType, reason: string, message: string): void {
    const event = worker.events.add(type, reason, message, this.#dependencies.clock.now());
    if (!worker.orphan) {
      this.#options.sink.event(worker.pod, event);
      this.#options.onEvent?.(worker, event);
    }
    this.#options.onChange(worker);
  }
}

/** A pod that is being deleted is taken down, whichever source reports it. */
function killOf({ metadata }: Pod): KillRequest | undefined {
  if (metadata.deletionTimestamp === undefined) return undefined;
  const why = 'it is being deleted';
  const graceSeconds = metadata.deletionGracePeriodSeconds;
  return graceSeconds === undefined ? { why } : { why, graceSeconds };
}

/** A later request can only shorten the grace period. A sync that is starting the pod is aborted. */
function requestKill(entry: Entry, kill: KillRequest): void {
  const before = entry.state.kill;
  const grace = kill.graceSeconds ?? Infinity;
  if (before !== undefined && grace >= (before.graceSeconds ?? Infinity)) return;
  entry.state.kill = { ...before, ...kill };
  entry.sync?.abort(new PodwireError('AGENT_NOT_READY', `The pod is taken down: ${kill.why}.`));
}
