import { setMaxListeners } from 'node:events';
import { describeError } from '@podwire/errors';
import { podName } from '@podwire/pod-spec';
import { admit } from './admit.js';
import type { Entry, Pool } from './pool-state.js';
import { show, tell } from './publish.js';
import { jittered, type Step } from './step.js';
import { takeTurn } from './turn.js';
import type { WorkerState } from './worker-state.js';

/** A turn that changes nothing but always wants another one would keep a core busy. */
const mostSpins = 20;

/** Something has changed: see WorkerPool. */
export function notice(pool: Pool, entry: Entry | undefined): void {
  if (entry === undefined) return;
  if (entry.running === undefined && pool.dependencies.clock.elapsed() < entry.restUntil) {
    show(pool, entry.state);
  } else wakeEntry(pool, entry);
}

/** There is something to do, now or as soon as the turn under way is over. */
export function wakeEntry(pool: Pool, entry: Entry | undefined): void {
  if (entry === undefined) return;
  entry.again = true;
  start(pool, entry);
}

export function start(pool: Pool, entry: Entry): void {
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
  setMaxListeners(0, turnStop.signal);
  entry.turn = turnStop;
  const step = makeStep(pool, entry.state, turnStop.signal);
  try {
    await takeOne(pool, entry, step);
  } catch (error) {
    if (!pool.closed) noteError(pool, entry, turnStop.signal.aborted, error);
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
  rest(pool, entry, spinning ? pool.dependencies.settings.syncMs : milliseconds);
}

/** The tick sees to pauses; those that are shorter have a clock of their own. */
function rest(pool: Pool, entry: Entry, milliseconds: number): void {
  const { clock, settings } = pool.dependencies;
  entry.dueAt = clock.elapsed() + milliseconds;
  if (milliseconds >= settings.syncMs) return;
  clock.sleep(milliseconds, entry.stop.signal).then(
    () => {
      if (entry.dueAt <= clock.elapsed()) wakeEntry(pool, entry);
    },
    () => undefined,
  );
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

/** It is forgotten; whoever has waited for that begins. */
export function leave(pool: Pool, entry: Entry): void {
  const { state } = entry;
  pool.entries.delete(state.uid);
  releaseName(pool, entry);
  pool.onGone(state);
  if (state.successor !== undefined) pool.begin(state.successor);
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
  show(pool, entry.state);
}

function makeStep(pool: Pool, worker: WorkerState, signal: AbortSignal): Step {
  const { dependencies } = pool;
  return {
    ...dependencies,
    worker,
    signal,
    tell: (type, reason, message) => tell(pool, worker, type, reason, message),
    admit: () => admit(pool, worker),
    show: () => show(pool, worker),
  };
}
