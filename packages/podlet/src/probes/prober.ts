import type { Prober, ProberOptions, ProbeKind, ProbeTarget } from '../parts.js';
import { Semaphore } from '@podwire/platform';
import { TimerQueue } from './timer-queue.js';
import { DeadlineError, answerWithin } from './deadline.js';
import { execSlack, performProbe } from './perform.js';
import { failure, nextProbeState, type ProbeOutcome, type ProbeState, unprobed } from './probe-state.js';

export interface ProberLimits {
  /** Probes that run at once; others wait, and their time does not count while they wait. */
  readonly parallel?: number;
}

/** One container that runs: everything goes when another one, with another id, takes its place. */
interface Watched {
  readonly containerId: string;
  /** Its start; delays count from there, not from when its startup probe let the others begin. */
  readonly since: number;
  readonly probes: Map<ProbeKind, Entry>;
}

interface Entry {
  target: ProbeTarget;
  state: ProbeState;
  /** Takes back what is planned. */
  cancel: () => void;
  readonly stopped: AbortController;
  /** The second look comes at a random time, so that pods that start together are not probed together for ever. */
  probedBefore: boolean;
}

export function createProber(options: ProberOptions, { parallel = 32 }: ProberLimits = {}): Prober {
  const context: Context = {
    ...options,
    containers: new Map(),
    running: new Set(),
    timers: new TimerQueue(options.clock),
    slots: new Semaphore(parallel),
  };
  return {
    watch: (target) => watch(context, target),
    forget(uid, containerName) {
      for (const [key, watched] of context.containers) {
        const isMeant =
          containerName === undefined ? key.startsWith(`${uid}/`) : key === keyOf(uid, containerName);
        if (isMeant) stopAll(context, key, watched);
      }
    },
    probeResult: (uid, containerName, kind) =>
      context.containers.get(keyOf(uid, containerName))?.probes.get(kind)?.state.probeResult,
    async close() {
      for (const [key, watched] of context.containers) stopAll(context, key, watched);
      context.timers.close();
      await Promise.all(context.running);
    },
  };
}

interface Context extends ProberOptions {
  readonly containers: Map<string, Watched>;
  /** Probes that run or wait for their turn; they never reject. */
  readonly running: Set<Promise<void>>;
  readonly timers: TimerQueue;
  readonly slots: Semaphore;
}

/** Neither a uid nor a container's name has a slash. */
function keyOf(uid: string, containerName: string): string {
  return `${uid}/${containerName}`;
}

function watch(context: Context, target: ProbeTarget): void {
  const { probes, since } = watchedOf(context, target);
  const known = probes.get(target.kind);
  if (known !== undefined) {
    // The address may be another one meanwhile; everything else goes on.
    known.target = target;
    return;
  }
  const entry: Entry = {
    target,
    state: unprobed,
    cancel: () => undefined,
    stopped: new AbortController(),
    probedBefore: false,
  };
  probes.set(target.kind, entry);
  if (mayBegin(target, probes)) plan(context, entry, since + target.probe.initialDelaySeconds * 1000);
}

function watchedOf(context: Context, target: ProbeTarget): Watched {
  const { pod, container, containerId } = target;
  const key = keyOf(pod.metadata.uid, container.name);
  const known = context.containers.get(key);
  if (known?.containerId === containerId) return known;
  if (known !== undefined) stopAll(context, key, known);
  const watched: Watched = { containerId, since: startOf(context, target), probes: new Map() };
  context.containers.set(key, watched);
  return watched;
}

/** Of the steady clock. It may be long ago: a pod agent that was started again must not make all pods wait again. */
function startOf({ clock }: Context, { startedAt = 0 }: ProbeTarget): number {
  const age = startedAt === 0 ? 0 : clock.now() - startedAt;
  return clock.elapsed() - Math.max(0, age);
}

function stopAll(context: Context, key: string, { probes }: Watched): void {
  context.containers.delete(key);
  for (const { cancel, stopped } of probes.values()) {
    cancel();
    stopped.abort(new Error('the container is not watched any more'));
  }
}

/** With a startup probe, the others wait until it has succeeded. */
function mayBegin({ kind, container, hasStarted }: ProbeTarget, probes: Watched['probes']): boolean {
  if (kind === 'startup' || container.startupProbe === undefined || hasStarted === true) return true;
  return probes.get('startup')?.state.probeResult === true;
}

/** A probe that is late begins now, and its periods count from now. */
function plan(context: Context, entry: Entry, wanted: number): void {
  const time = Math.max(wanted, context.clock.elapsed());
  entry.cancel = context.timers.at(time, () => {
    const run = probeOnce(context, entry, time).finally(() => context.running.delete(run));
    context.running.add(run);
  });
}

async function probeOnce(context: Context, entry: Entry, plannedAt: number): Promise<void> {
  const { signal } = entry.stopped;
  let outcome: ProbeOutcome;
  try {
    outcome = await context.slots.run(() => perform(context, entry.target, signal), signal);
  } catch {
    return;
  }
  if (signal.aborted) return;
  // Planned before the listener is told: it may end the watch.
  const before = entry.state;
  entry.state = nextProbeState(before, outcome, entry.target.kind, entry.target.probe);
  if (!entry.state.finished) planNext(context, entry, plannedAt);
  if (entry.state.probeResult !== before.probeResult) reportChange(context, entry, outcome);
}

/** A probe that takes longer than its period is not repeated until it is over. */
function planNext(context: Context, entry: Entry, plannedAt: number): void {
  const period = entry.target.probe.periodSeconds * 1000;
  const share = entry.probedBefore ? 1 : 0.5 + context.random() / 2;
  entry.probedBefore = true;
  plan(context, entry, plannedAt + period * share);
}

function reportChange(context: Context, { target, state }: Entry, { why }: ProbeOutcome): void {
  const { pod, container, kind } = target;
  if (kind === 'startup' && state.probeResult === true) openOthers(context, target);
  context.onChange(pod.metadata.uid, container.name, kind, state.probeResult === true, why);
}

/** Probes that waited for the startup probe begin at once, unless their own delay is longer. */
function openOthers(context: Context, { pod, container }: ProbeTarget): void {
  const watched = context.containers.get(keyOf(pod.metadata.uid, container.name));
  for (const [kind, entry] of watched?.probes ?? []) {
    if (kind === 'startup') continue;
    plan(context, entry, watched!.since + entry.target.probe.initialDelaySeconds * 1000);
  }
}

async function perform(context: Context, target: ProbeTarget, signal: AbortSignal): Promise<ProbeOutcome> {
  const { probe, container, containerId, address } = target;
  const { timeoutSeconds } = probe;
  const limit = timeoutSeconds * 1000 + (probe.exec === undefined ? 0 : execSlack);
  const attempt = { action: probe, container, containerId, address, timeoutSeconds };
  try {
    return await answerWithin(context.clock, limit, signal, (limited) =>
      performProbe(attempt, context.runtime, limited),
    );
  } catch (error) {
    if (error instanceof DeadlineError) return failure(error.message);
    throw error;
  }
}
