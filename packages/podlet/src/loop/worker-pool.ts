import { PodwireError } from '@podwire/errors';
import type { PodEventType } from '../contract.js';
import { collectable } from '../lifecycle/garbage.js';
import type { Pod } from '@podwire/pod-spec';
import type { PodMarks } from './marks.js';
import { createNameClaims } from './name-claims.js';
import { type ArrivalTimes, createWorkerState, orphanPod } from './new-worker.js';
import type { Entry, Pool, WorkerPoolOptions } from './pool-state.js';
import { publish, show, tell } from './publish.js';
import { updateStatus } from './show.js';
import { leave, notice, start, wakeEntry } from './worker-runs.js';
import type { KillRequest, WorkerState } from './worker-state.js';

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

export function createWorkerPool(options: WorkerPoolOptions): WorkerPool {
  const pool: Pool = {
    ...options,
    entries: new Map(),
    claims: createNameClaims(),
    closed: false,
    begin: (pod) => put(pool, pod, timesNow(options), true),
  };
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
  const latest = pool.entries.get(uid);
  if (wake) wakeEntry(pool, latest);
  else if (latest !== undefined) show(pool, latest.state);
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

function timesNow({ dependencies }: WorkerPoolOptions): ArrivalTimes {
  const now = dependencies.preciseNow();
  return { causedAt: now, mergedAt: now, arrivedAt: now };
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

async function close(pool: Pool): Promise<void> {
  pool.closed = true;
  const running = [...pool.entries.values()].flatMap((entry) => {
    const why = new PodwireError('AGENT_NOT_READY', 'The pod agent is stopping.');
    entry.turn?.abort(why);
    entry.stop.abort(why);
    return entry.running ?? [];
  });
  await Promise.all(running);
}
