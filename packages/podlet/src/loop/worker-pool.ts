import { describeError, PodwireError } from '@podwire/errors';
import type { PodEventType } from '../contract.js';
import { collectable } from '../lifecycle/garbage.js';
import { type Pod, podName } from '../pod/pod.js';
import type { StatusSink, StepDependencies } from './dependencies.js';
import type { PodMarks } from './marks.js';
import { type ArrivalTimes, createWorkerState, orphanPod } from './new-worker.js';
import { type NameClaims, createNameClaims } from './name-claims.js';
import { updateStatus } from './show.js';
import { jittered, type Step } from './step.js';
import { takeTurn } from './turn.js';
import type { KillRequest, WorkerState } from './worker-state.js';

export interface WorkerPoolOptions {
  readonly dependencies: StepDependencies;
  readonly sink: StatusSink;
  /** While it is not so, nothing new begins. */
  readonly mayRun: () => boolean;
  readonly onChange: (worker: WorkerState) => void;
  readonly onGone: (worker: WorkerState) => void;
}

/** One worker per pod UID, which owns all of the pod's life. */
export interface WorkerPool {
  /** A source wants it so. `wake`: something about it has to be done. */
  put(pod: Pod, times: ArrivalTimes, wake: boolean): void;
  /** No source wants it any more. */
  remove(uid: string): void;
  /** It is in the runtime and nobody wants it. */
  takeOver(marks: PodMarks): void;
  /** Something about it has changed. One that rests after an error only shows it: a change may be what its own failure left. */
  notice(uid: string): void;
  /** Lets those go on whose pause is over. */
  tick(): void;
  wakeAll(): void;
  /** An event about a pod from elsewhere. */
  tell(uid: string, type: PodEventType, reason: string, message: string): void;
  collectGarbage(): void;
  get(uid: string): WorkerState | undefined;
  isBusy(uid: string): boolean;
  all(): Iterable<WorkerState>;
  /** Lets go; pods stay as they are. */
  close(): Promise<void>;
}

export interface Entry {
  readonly state: WorkerState;
  readonly stop: AbortController;
  /** Of the turn under way. */
  turn: AbortController | undefined;
  running: Promise<void> | undefined;
  again: boolean;
  collect: boolean;
  /** By `clock.elapsed`. */
  dueAt: number;
  /** After an error. By `clock.elapsed`. */
  restUntil: number;
  /** Turns that followed each other at once. */
  spin: number;
}

/** A turn that changes nothing but always wants another one would keep a core busy. */
const mostSpins = 20;

export function createWorkerPool(options: WorkerPoolOptions): WorkerPool {
  const pool: Pool = { ...options, entries: new Map(), claims: createNameClaims(), closed: false };
  return {
    put: (pod, times, wake) => put(pool, pod, times, wake),
    remove: (uid) => remove(pool, uid),
    takeOver: (marks) => takeOver(pool, marks),
    notice: (uid) => notice(pool, pool.entries.get(uid)),
    tick: () => tick(pool),
    wakeAll: () => {
      for (const entry of pool.entries.values()) if (entry.again) start(pool, entry);
    },
    tell: (uid, type, reason, message) => {
      const entry = pool.entries.get(uid);
      if (entry !== undefined) tell(pool, entry.state, type, reason, message);
    },
    collectGarbage: () => {
      for (const entry of pool.entries.values()) entry.collect = hasGarbage(pool, entry);
    },
    get: (uid) => pool.entries.get(uid)?.state,
    isBusy: (uid) => pool.entries.get(uid)?.running !== undefined,
    *all() {
      for (const { state } of pool.entries.values()) yield state;
    },
    close: () => close(pool),
  };
}

interface Pool extends WorkerPoolOptions {
  readonly entries: Map<string, Entry>;
  readonly claims: NameClaims;
  closed: boolean;
}

function put(pool: Pool, pod: Pod, times: ArrivalTimes, wake: boolean): void {
  const { uid } = pod.metadata;
  const entry = pool.entries.get(uid);
  if (entry === undefined) {
    addEntry(pool, createWorkerState(pool.dependencies, { pod, orphan: false, times }));
  } else if (entry.state.kill !== undefined && (entry.state.removed || entry.state.orphan)) {
    entry.state.successor = pod;
  } else {
    entry.state.pod = pod;
    if (wake) entry.state.arrivedAt = times.arrivedAt;
  }
  const kill = killOf(pod);
  if (kill !== undefined) askToKill(pool, pool.entries.get(uid), kill);
  if (wake) wakeEntry(pool, pool.entries.get(uid));
}

/** A pod that is being deleted is to be taken down, whoever hears of it when. */
function killOf(pod: Pod): KillRequest | undefined {
  const { deletionTimestamp, deletionGracePeriodSeconds } = pod.metadata;
  if (deletionTimestamp === undefined) return undefined;
  const why = 'it is being deleted';
  return deletionGracePeriodSeconds === undefined
    ? { why }
    : { why, graceSeconds: deletionGracePeriodSeconds };
}

function remove(pool: Pool, uid: string): void {
  const entry = pool.entries.get(uid);
  if (entry === undefined) return;
  entry.state.removed = true;
  entry.state.successor = undefined;
  if (entry.state.gone && entry.running === undefined) {
    leave(pool, entry);
    return;
  }
  askToKill(pool, entry, { why: 'no source has it any more' });
  wakeEntry(pool, entry);
}

/** A later wish may only be in more of a hurry. Work on bringing the pod up is given up at once. */
function askToKill(pool: Pool, entry: Entry | undefined, kill: KillRequest): void {
  if (entry === undefined) return;
  const before = entry.state.kill;
  const hurry = kill.graceSeconds ?? Infinity;
  if (before !== undefined && hurry >= (before.graceSeconds ?? Infinity)) return;
  entry.state.kill = { ...before, ...kill };
  entry.turn?.abort(new PodwireError('AGENT_NOT_READY', `The pod is taken down: ${kill.why}.`));
}

function takeOver(pool: Pool, marks: PodMarks): void {
  if (pool.entries.has(marks.uid)) return;
  const pod = orphanPod(marks);
  const wish = { pod, orphan: true, times: timesNow(pool) };
  const entry = addEntry(pool, createWorkerState(pool.dependencies, wish));
  // It has the name already, whoever else may want it.
  pool.claims.claim(pod, true);
  entry.state.removed = true;
  askToKill(pool, entry, { why: 'nobody wants it' });
  wakeEntry(pool, entry);
}

function addEntry(pool: Pool, state: WorkerState): Entry {
  const entry: Entry = {
    state,
    stop: new AbortController(),
    turn: undefined,
    running: undefined,
    again: false,
    collect: false,
    dueAt: Infinity,
    restUntil: 0,
    spin: 0,
  };
  pool.entries.set(state.uid, entry);
  updateStatus(state, pool.dependencies);
  publish(pool, state);
  return entry;
}

function publish(pool: Pool, state: WorkerState): void {
  if (!state.orphan) pool.sink.statusChanged(state.pod, state.status);
  pool.onChange(state);
}

function tick(pool: Pool): void {
  const now = pool.dependencies.clock.elapsed();
  for (const entry of pool.entries.values()) {
    if (entry.dueAt <= now) entry.state.stale = true;
    if (entry.dueAt <= now || entry.collect) wakeEntry(pool, entry);
  }
}

function hasGarbage(pool: Pool, { state }: Entry): boolean {
  const { containers, sandboxes } = collectable(pool.dependencies.view.observed(state.uid), true);
  return containers.length + sandboxes.length > 0;
}

function notice(pool: Pool, entry: Entry | undefined): void {
  if (entry === undefined) return;
  if (entry.running === undefined && pool.dependencies.clock.elapsed() < entry.restUntil) {
    if (updateStatus(entry.state, pool.dependencies)) publish(pool, entry.state);
  } else wakeEntry(pool, entry);
}

function wakeEntry(pool: Pool, entry: Entry | undefined): void {
  if (entry === undefined) return;
  entry.again = true;
  start(pool, entry);
}

function start(pool: Pool, entry: Entry): void {
  if (entry.running !== undefined || pool.closed || !pool.mayRun()) return;
  entry.running = run(pool, entry)
    .catch((error: unknown) =>
      pool.dependencies.log.error({ error: describeError(error) }, 'a worker failed'),
    )
    .finally(() => {
      entry.running = undefined;
      if (entry.again && isPresent(pool, entry)) start(pool, entry);
    });
}

async function run(pool: Pool, entry: Entry): Promise<void> {
  while (entry.again && !pool.closed && pool.mayRun() && isPresent(pool, entry)) {
    entry.again = false;
    entry.dueAt = Infinity;
    entry.restUntil = 0;
    await turn(pool, entry);
  }
  entry.spin = 0;
}

function isPresent(pool: Pool, entry: Entry): boolean {
  return pool.entries.get(entry.state.uid) === entry;
}

async function turn(pool: Pool, entry: Entry): Promise<void> {
  const turnStop = new AbortController();
  entry.turn = turnStop;
  const signal = AbortSignal.any([turnStop.signal, entry.stop.signal]);
  const step = makeStep(pool, entry.state, signal);
  try {
    await takeOne(pool, entry, step);
  } catch (error) {
    if (!entry.stop.signal.aborted) noteError(pool, entry, turnStop.signal.aborted, error);
  } finally {
    entry.turn = undefined;
  }
}

async function takeOne(pool: Pool, entry: Entry, step: Step): Promise<void> {
  const { state } = entry;
  if (!pool.claims.claim(state.pod, false)) {
    await waitForName(pool, entry, step);
    return;
  }
  const collect = entry.collect;
  entry.collect = false;
  const result = await takeTurn(step, collect);
  if (result.kind === 'gone') leaveOrStay(pool, entry);
  else pause(pool, entry, result.again, result.pause);
}

function pause(pool: Pool, entry: Entry, again: boolean, milliseconds: number): void {
  entry.spin = again ? entry.spin + 1 : 0;
  const spinning = entry.spin > mostSpins;
  if (again && !spinning) entry.again = true;
  entry.dueAt =
    pool.dependencies.clock.elapsed() + (spinning ? pool.dependencies.settings.syncMs : milliseconds);
}

/** Another pod of the same name has not left yet. */
async function waitForName(pool: Pool, entry: Entry, step: Step): Promise<void> {
  const { state } = entry;
  if (state.kill !== undefined) {
    // It never had anything: whatever an earlier process left is taken down by the one that has the name, or as an orphan.
    const result = await takeTurn(step, false);
    if (result.kind === 'gone') leaveOrStay(pool, entry);
    return;
  }
  step.tell('Normal', 'WaitingForName', `Another pod named ${podName(state.pod)} is still being taken down.`);
  state.stage = 'waiting';
  step.show();
}

function leaveOrStay(pool: Pool, entry: Entry): void {
  const { state } = entry;
  if (!state.orphan) pool.sink.terminated(state.pod, state.status);
  releaseName(pool, entry);
  if (state.removed) leave(pool, entry);
}

function leave(pool: Pool, entry: Entry): void {
  const { state } = entry;
  pool.entries.delete(state.uid);
  releaseName(pool, entry);
  pool.onGone(state);
  if (state.successor !== undefined) put(pool, state.successor, timesNow(pool), true);
}

function timesNow({ dependencies }: Pool): ArrivalTimes {
  const now = dependencies.preciseNow();
  return { causedAt: now, mergedAt: now, arrivedAt: now };
}

function releaseName(pool: Pool, entry: Entry): void {
  if (!pool.claims.release(entry.state.pod)) return;
  const name = podName(entry.state.pod);
  for (const other of pool.entries.values()) {
    if (other !== entry && podName(other.state.pod) === name) wakeEntry(pool, other);
  }
}

function noteError(pool: Pool, entry: Entry, interrupted: boolean, error: unknown): void {
  const { dependencies } = pool;
  const { settings, random, clock, log } = dependencies;
  if (interrupted) {
    entry.again = true;
    return;
  }
  const isNetwork = describeError(error).includes('network is not ready');
  const rest = jittered(isNetwork ? settings.networkRetryMs : settings.retryMs, random);
  entry.dueAt = clock.elapsed() + rest;
  entry.restUntil = entry.dueAt;
  log.warn(
    { pod: podName(entry.state.pod), uid: entry.state.uid, error: describeError(error) },
    'pod: will be tried again',
  );
  if (updateStatus(entry.state, dependencies)) publish(pool, entry.state);
}

function makeStep(pool: Pool, worker: WorkerState, signal: AbortSignal): Step {
  const { dependencies } = pool;
  return {
    ...dependencies,
    worker,
    signal,
    tell: (type, reason, message) => tell(pool, worker, type, reason, message),
    show: () => {
      if (updateStatus(worker, dependencies)) publish(pool, worker);
    },
  };
}

function tell(pool: Pool, worker: WorkerState, type: PodEventType, reason: string, message: string): void {
  const event = worker.events.add(type, reason, message, pool.dependencies.clock.now());
  if (!worker.orphan) pool.sink.event(worker.pod, event);
  pool.onChange(worker);
}

async function close(pool: Pool): Promise<void> {
  pool.closed = true;
  const running = [...pool.entries.values()].flatMap((entry) => {
    entry.stop.abort(new PodwireError('AGENT_NOT_READY', 'The pod agent is stopping.'));
    return entry.running ?? [];
  });
  await Promise.all(running);
}
