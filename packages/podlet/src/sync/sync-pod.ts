import { collectable } from '../lifecycle/garbage.js';
import { pollInit, pollPause } from './poll-init-container.js';
import { readTerminationMessages } from './status-manager.js';
import { jittered, type SyncContext, withFailureEvent } from './sync-context.js';
import { allOf, collectGarbage, stopOne, stopPod } from './stop-pod.js';
import type { Refusal } from '../admission/index.js';
import { computeActions, type PodActions } from '../lifecycle/actions.js';
import type { ContainerFacts, KillAction } from '../lifecycle/container-plan.js';
import type { Waiting } from '../lifecycle/container-status.js';
import { deadlineExceeded, remainingActivity } from '../lifecycle/grace.js';
import { isAlive, type ObservedPod } from '../lifecycle/observed.js';
import { isTerminal } from '../lifecycle/phase.js';
import { isStopped, stopped } from '../lifecycle/stopped.js';
import { createSandbox } from './create-sandbox.js';
import type { PreparedPod } from '../parts.js';
import { labelSandbox } from '../runtime/labels.js';
import { type ReadySandbox, startContainer, type StartResult } from './start-container.js';
import { probeResultsOf } from './probe-results.js';
import { watchProbes } from './watch-probes.js';
import { PodwireError } from '@podwire/errors';
import { podName } from '@podwire/pod-spec';

export type SyncOutcome = ({ readonly kind: 'stays' } & SyncResult) | { readonly kind: 'gone' };

/** One sync iteration of a worker: sync → terminating → terminated, never backwards. */
export async function syncOnce(context: SyncContext, collect: boolean): Promise<SyncOutcome> {
  const { worker } = context;
  noteWait(context);
  if (worker.kill !== undefined) {
    if (!worker.gone || hasAnything(context)) await terminatePod(context);
    return { kind: 'gone' };
  }
  await refreshStale(context);
  await pollInit(context);
  await readTerminationMessages(context);
  if (!collect) return { kind: 'stays', ...(await syncUnlessOver(context)) };
  return { kind: 'stays', ...(await collectAfter(context, () => syncUnlessOver(context))) };
}

/** Also after an error: where a network does not come up, every attempt may leave a dead sandbox. */
async function collectAfter<T>(context: SyncContext, work: () => Promise<T>): Promise<T> {
  const [outcome] = await Promise.allSettled([work()]);
  if (!context.signal.aborted) await collectRemains(context);
  if (outcome.status === 'rejected') throw outcome.reason;
  return outcome.value;
}

/** Listings have no addresses: one that was taken away is only found by asking. What cannot be asked stays as it was. */
async function refreshStale({ worker, view, signal }: SyncContext): Promise<void> {
  const newest = view.observed(worker.uid).sandboxes[0];
  if (worker.stale && newest?.ready === true)
    await view.refreshSandbox(newest.id, signal).catch(() => undefined);
  worker.stale = false;
}

/** A pod that has ended is not synced any more, unless one of its containers runs again. */
async function syncUnlessOver(context: SyncContext): Promise<SyncResult> {
  const { worker, view } = context;
  if (worker.stage === 'terminated' && !hasLife(view.observed(worker.uid))) {
    return { again: false, pause: Infinity };
  }
  return syncPod(context);
}

async function collectRemains(context: SyncContext): Promise<void> {
  const { containers, sandboxes } = collectable(context.view.observed(context.worker.uid), true);
  if (containers.length + sandboxes.length > 0) await collectGarbage(context, true);
}

function hasAnything({ view, worker }: SyncContext): boolean {
  const { sandboxes, containers } = view.observed(worker.uid);
  return sandboxes.length + containers.length > 0;
}

function noteWait({ worker }: SyncContext): void {
  if (worker.arrivedAt !== undefined) worker.trace.past('wait for worker', worker.arrivedAt);
  worker.arrivedAt = undefined;
}

export interface SyncResult {
  /** Something was done that needs another sync at once. */
  readonly again: boolean;
  /** Milliseconds until the next sync otherwise. */
  readonly pause: number;
}

/** Syncs a pod that is to run: decide, update its status, act. @throws what stands in the way; the caller chooses the pause */
export async function syncPod(context: SyncContext): Promise<SyncResult> {
  const { worker, view, settings } = context;
  if (worker.stage === 'waiting') begin(context);
  if (isStopped(worker.pod)) stopByName(context);
  else rejectUnfit(context);
  if (worker.blocked !== undefined && worker.failure === undefined)
    return stayBlocked(context, worker.blocked);
  const actions = computeActions(worker.pod, view.observed(worker.uid), factsOf(context));
  if (actions.hopeless !== undefined) setFailure(context, { reason: 'Hopeless', message: actions.hopeless });
  const activity = remainingActivity(worker.pod, worker.status, context.clock.now());
  if (activity === 0) {
    context.updateStatus();
    setFailure(context, deadlineExceeded);
  }
  context.updateStatus();
  if (isTerminal(worker.status.phase)) return finish(context);
  if (actions.start.length === 0) worker.waiting.clear();
  const result = isIdle(actions) ? idle(context) : await act(context, actions);
  watchProbes(context);
  context.updateStatus();
  const resync = jittered(settings.resyncMs, context.random);
  return { ...result, pause: Math.min(result.pause, activity, resync, pollPause(context)) };
}

/** A pod that ended before this podlet began keeps its status: its sandbox was stopped since. */
function begin(context: SyncContext): void {
  context.worker.stage = 'starting';
  context.updateStatus();
}

function stopByName(context: SyncContext): void {
  if (context.worker.failure === undefined && !isTerminal(context.worker.status.phase))
    context.recordEvent('Normal', stopped.reason, 'It is stopped, as asked for');
  setFailure(context, stopped);
}

/** Nothing of it begins; it is synced again with each change, and periodically. */
function stayBlocked(context: SyncContext, { reason, message }: Refusal): SyncResult {
  const { worker, settings } = context;
  const { initContainers, containers } = worker.pod.spec;
  if (worker.waiting.size === 0) context.recordEvent('Warning', reason, message);
  for (const { name } of [...initContainers, ...containers])
    worker.waiting.set(name, { reason: 'Blocked', message });
  context.updateStatus();
  return { again: false, pause: jittered(settings.resyncMs, context.random) };
}

/** As the kubelet, which does not try again: it has failed, and the words say why. */
function rejectUnfit(context: SyncContext): void {
  const refusal = context.admit();
  if (refusal === undefined || context.worker.failure !== undefined) return;
  const { reason, message } = refusal;
  if (!isTerminal(context.worker.status.phase)) context.recordEvent('Warning', reason, message);
  setFailure(context, { reason, message: `Pod ${message}` });
}

/** A pod that has ended already has not failed because of it. */
function setFailure({ worker }: SyncContext, failure: Waiting): void {
  if (!isTerminal(worker.status.phase)) worker.failure = failure;
}

export function factsOf(context: SyncContext): ContainerFacts {
  const { worker } = context;
  return {
    probeResult: probeResultsOf(context),
    interrupted: worker.interrupted,
    restartAsked: worker.restartAsked,
  };
}

function isIdle(actions: PodActions): boolean {
  return !actions.killPod && !actions.createSandbox && actions.kill.length + actions.start.length === 0;
}

function idle({ worker }: SyncContext): SyncResult {
  worker.sandboxProblem = undefined;
  return { again: false, pause: Infinity };
}

/** A pod that has ended keeps its ended containers, for their status and logs; everything else is stopped. */
async function finish(context: SyncContext): Promise<SyncResult> {
  const { worker } = context;
  if (worker.stage !== 'terminated' || hasLife(context.view.observed(worker.uid))) await stopPod(context);
  context.prober.forget(worker.uid);
  worker.interrupted.clear();
  worker.stage = 'terminated';
  worker.trace.finish({ phase: worker.status.phase });
  context.updateStatus();
  return { again: false, pause: Infinity };
}

export function hasLife(observed: ObservedPod): boolean {
  return observed.sandboxes.some(({ ready }) => ready) || observed.containers.some(isAlive);
}

async function act(context: SyncContext, actions: PodActions): Promise<SyncResult> {
  noteInterrupted(context, actions);
  if (actions.killPod) {
    if (actions.why !== undefined) recordRecreation(context, actions.why);
    await stopPod(context);
    if (!actions.createSandbox) return { again: true, pause: Infinity };
  }
  await killAll(context, actions.kill);
  if (actions.start.length === 0) return { again: actions.kill.length > 0, pause: Infinity };
  const place = await prepareSandbox(context, actions);
  const results: StartResult[] = [];
  // One after the other, in the order of the manifest: people rely on a postStart hook holding back what follows.
  for (const start of actions.start) results.push(await startContainer(context, place, start));
  return summarise(context, results);
}

/**
 * Many programs end well when they are told to end. Where only a failure is a reason to start again, a pod that loses its
 * sandbox, or fails its probe, would have succeeded by that.
 */
function noteInterrupted({ worker, view }: SyncContext, { createSandbox, kill, start }: PodActions): void {
  const { restartPolicy, containers } = worker.pod.spec;
  if (restartPolicy !== 'OnFailure') return;
  const starting = start.filter(({ role }) => role === 'normal').map(({ container }) => container);
  const again = new Set((createSandbox ? containers : starting).map(({ name }) => name));
  const ending = createSandbox
    ? view.observed(worker.uid).containers
    : kill.map(({ container }) => container);
  for (const one of ending) if (isAlive(one) && again.has(one.name)) worker.interrupted.add(one.name);
}

function recordRecreation(context: SyncContext, why: string): void {
  context.recordEvent('Normal', 'SandboxChanged', `The sandbox is taken down and another one made: ${why}.`);
}

async function killAll(context: SyncContext, kills: readonly KillAction[]): Promise<void> {
  await allOf(
    kills.map(async (kill) => {
      context.recordEvent('Normal', 'Killing', kill.message);
      await stopOne(context, kill);
    }),
  );
}

/** The sandbox, made if need be, and everything that containers in it have in common. */
async function prepareSandbox(context: SyncContext, actions: PodActions): Promise<ReadySandbox> {
  const { worker, view, preparation, node } = context;
  const { pod } = worker;
  const prepared = await prepareVolumes(context);
  const sandboxId = actions.sandboxId ?? (await createSandbox(context, actions.attempt));
  context.updateStatus();
  const observed = view.observed(worker.uid).sandboxes.find(({ id }) => id === sandboxId);
  const addresses = pod.spec.hostNetwork ? node.addresses : (observed?.addresses ?? []);
  const resolvConfText = await node.resolvConf();
  const attempt = observed?.attempt ?? actions.attempt;
  const sandbox = context.buildSandboxConfig(pod, attempt, { ...node, resolvConfText }, context.directories);
  const hostsFile = await preparation.writeHosts(pod, addresses);
  return { sandboxId, addresses, prepared, hostsFile, sandbox: labelSandbox(sandbox, pod, node.name) };
}

async function prepareVolumes(context: SyncContext): Promise<PreparedPod> {
  const { worker, preparation, signal } = context;
  context.faults.at('before prepare');
  const span = worker.trace.child('prepare volumes');
  const work = () => preparation.prepare(worker.pod, signal);
  const prepared = await withFailureEvent(context, 'FailedMount', 'volumes are not available', work).finally(
    () => span.end(),
  );
  context.faults.at('after prepare');
  return prepared;
}

function summarise(context: SyncContext, results: readonly StartResult[]): SyncResult {
  const pauses = results.flatMap((result) => {
    if (result.kind === 'paused') return [result.pause];
    return result.kind === 'failed' ? [jittered(context.settings.retryMs, context.random)] : [];
  });
  return {
    again: results.some(({ kind }) => kind === 'started' || kind === 'ended'),
    pause: Math.min(Infinity, ...pauses),
  };
}

/**
 * Takes a pod down and removes everything of it: containers, sandboxes, directories. Idempotent: what an interrupted
 * attempt has left is found and finished by the next.
 * @throws what could not be stopped or removed; it has to be called again then
 */
export async function terminatePod(context: SyncContext): Promise<void> {
  const { worker, view } = context;
  worker.stage = 'terminating';
  worker.sandboxProblem = undefined;
  context.updateStatus();
  // A creation that was given up may have come to be; what the listing does not show yet is caught at the end.
  await view.refreshPod(worker.uid, context.signal);
  recordKilling(context);
  await stopPod(context);
  context.prober.forget(worker.uid);
  worker.waiting.clear();
  worker.interrupted.clear();
  worker.ended = true;
  await readTerminationMessages(context);
  context.updateStatus();
  await withFailureEvent(context, 'FailedCleanUp', 'error removing what is left of the pod', () =>
    removeAll(context),
  );
  worker.stage = 'terminated';
  worker.gone = true;
  context.updateStatus();
}

function recordKilling(context: SyncContext): void {
  for (const container of context.view.observed(context.worker.uid).containers.filter(isAlive)) {
    context.recordEvent('Normal', 'Killing', `Stopping container ${container.name}`);
  }
}

async function removeAll(context: SyncContext): Promise<void> {
  const { worker, view, preparation } = context;
  await collectGarbage(context, false);
  await view.refreshPod(worker.uid, context.signal);
  const left = view.observed(worker.uid);
  if (left.sandboxes.length + left.containers.length > 0) {
    throw new PodwireError(
      'REMOVE_INCOMPLETE',
      `Pod ${podName(worker.pod)} still has something in the runtime.`,
    );
  }
  context.faults.at('before discard');
  await preparation.discard(worker.uid);
  context.faults.at('after discard');
}
