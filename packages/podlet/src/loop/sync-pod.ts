import type { Refusal } from '../admission/index.js';
import { computeActions, type PodActions } from '../lifecycle/actions.js';
import type { ContainerFacts, KillAction } from '../lifecycle/container-plan.js';
import type { Waiting } from '../lifecycle/container-status.js';
import { deadlineExceeded, remainingActivity } from '../lifecycle/deadline.js';
import { isAlive, type ObservedPod } from '../lifecycle/observed.js';
import { isTerminal } from '../lifecycle/phase.js';
import { createSandbox } from './create-sandbox.js';
import type { PreparedPod } from '../parts.js';
import { pollPause } from './init-poll.js';
import { markSandbox } from './marks.js';
import { type Place, startContainer, type StartResult } from './start-container.js';
import { jittered, type Step, telling } from './step.js';
import { stopOne } from './stop-container.js';
import { allOf, stopPod } from './stop-pod.js';
import { watchProbes } from './watch-probes.js';

export interface SyncResult {
  /** Something was done that makes another look worth it at once. */
  readonly again: boolean;
  /** Milliseconds until the next look otherwise. */
  readonly pause: number;
}

/** One look at a pod that is to run: decide, show, act. @throws what stands in the way; the caller chooses the pause */
export async function syncPod(step: Step): Promise<SyncResult> {
  const { worker, view, settings } = step;
  if (worker.stage === 'waiting') begin(step);
  refuseUnfit(step);
  if (worker.blocked !== undefined && worker.failure === undefined) return stayBlocked(step, worker.blocked);
  const actions = computeActions(worker.pod, view.observed(worker.uid), factsOf(step));
  if (actions.hopeless !== undefined) noteFailure(step, { reason: 'Hopeless', message: actions.hopeless });
  const activity = remainingActivity(worker.pod, worker.status, step.clock.now());
  if (activity === 0) {
    step.show();
    noteFailure(step, deadlineExceeded);
  }
  step.show();
  if (isTerminal(worker.status.phase)) return finish(step);
  if (actions.start.length === 0) worker.waiting.clear();
  const result = isIdle(actions) ? idle(step) : await act(step, actions);
  watchProbes(step);
  step.show();
  const resync = jittered(settings.resyncMs, step.random);
  return { ...result, pause: Math.min(result.pause, activity, resync, pollPause(step)) };
}

/** What ended before this podlet began is told as it ended, not by what is found of it now: its sandbox was stopped since. */
function begin(step: Step): void {
  step.worker.stage = 'starting';
  step.show();
}

/** Nothing of it begins; it is looked at again with each change, and once in a while. */
function stayBlocked(step: Step, { reason, message }: Refusal): SyncResult {
  const { worker, settings } = step;
  const { initContainers, containers } = worker.pod.spec;
  if (worker.waiting.size === 0) step.tell('Warning', reason, message);
  for (const { name } of [...initContainers, ...containers])
    worker.waiting.set(name, { reason: 'Blocked', message });
  step.show();
  return { again: false, pause: jittered(settings.resyncMs, step.random) };
}

/** As the kubelet, which does not try again: it has failed, and the words say why. */
function refuseUnfit(step: Step): void {
  const refusal = step.admit();
  if (refusal === undefined || step.worker.failure !== undefined) return;
  const { reason, message } = refusal;
  if (!isTerminal(step.worker.status.phase)) step.tell('Warning', reason, message);
  noteFailure(step, { reason, message: `Pod ${message}` });
}

/** What has ended already, before this podlet began perhaps, has not failed because of it. */
function noteFailure({ worker }: Step, failure: Waiting): void {
  if (!isTerminal(worker.status.phase)) worker.failure = failure;
}

export function factsOf({ worker, prober }: Step): ContainerFacts {
  return {
    verdict: (name, kind) => prober.verdict(worker.uid, name, kind),
    interrupted: worker.interrupted,
  };
}

function isIdle(actions: PodActions): boolean {
  return !actions.killPod && !actions.createSandbox && actions.kill.length + actions.start.length === 0;
}

function idle({ worker }: Step): SyncResult {
  worker.sandboxProblem = undefined;
  return { again: false, pause: Infinity };
}

/** A pod that has ended keeps its ended containers, for their status and logs; everything else is stopped. */
async function finish(step: Step): Promise<SyncResult> {
  const { worker } = step;
  if (worker.stage !== 'terminated' || hasLife(step.view.observed(worker.uid))) await stopPod(step);
  step.prober.forget(worker.uid);
  worker.interrupted.clear();
  worker.stage = 'terminated';
  worker.trace.finish({ phase: worker.status.phase });
  step.show();
  return { again: false, pause: Infinity };
}

export function hasLife(observed: ObservedPod): boolean {
  return observed.sandboxes.some(({ ready }) => ready) || observed.containers.some(isAlive);
}

async function act(step: Step, actions: PodActions): Promise<SyncResult> {
  noteInterrupted(step, actions);
  if (actions.killPod) {
    if (actions.why !== undefined) tellRecreation(step, actions.why);
    await stopPod(step);
    if (!actions.createSandbox) return { again: true, pause: Infinity };
  }
  await killAll(step, actions.kill);
  if (actions.start.length === 0) return { again: actions.kill.length > 0, pause: Infinity };
  const place = await findPlace(step, actions);
  const results: StartResult[] = [];
  // One after the other, in the order of the manifest: people rely on a postStart hook holding back what follows.
  for (const start of actions.start) results.push(await startContainer(step, place, start));
  return summarise(step, results);
}

/**
 * Many programs end well when they are told to end. Where only a failure is a reason to start again, a pod that loses its
 * sandbox, or fails its probe, would have succeeded by that.
 */
function noteInterrupted({ worker, view }: Step, { createSandbox, kill, start }: PodActions): void {
  const { restartPolicy, containers } = worker.pod.spec;
  if (restartPolicy !== 'OnFailure') return;
  const starting = start.filter(({ role }) => role === 'normal').map(({ container }) => container);
  const again = new Set((createSandbox ? containers : starting).map(({ name }) => name));
  const ending = createSandbox
    ? view.observed(worker.uid).containers
    : kill.map(({ container }) => container);
  for (const one of ending) if (isAlive(one) && again.has(one.name)) worker.interrupted.add(one.name);
}

function tellRecreation(step: Step, why: string): void {
  step.tell('Normal', 'SandboxChanged', `The sandbox is taken down and another one made: ${why}.`);
}

async function killAll(step: Step, kills: readonly KillAction[]): Promise<void> {
  await allOf(
    kills.map(async (kill) => {
      step.tell('Normal', 'Killing', kill.message);
      await stopOne(step, kill);
    }),
  );
}

/** The sandbox, made if need be, and everything that containers in it have in common. */
async function findPlace(step: Step, actions: PodActions): Promise<Place> {
  const { worker, view, preparation, node } = step;
  const { pod } = worker;
  const prepared = await prepare(step);
  const sandboxId = actions.sandboxId ?? (await createSandbox(step, actions.attempt));
  step.show();
  const observed = view.observed(worker.uid).sandboxes.find(({ id }) => id === sandboxId);
  const addresses = pod.spec.hostNetwork ? node.addresses : (observed?.addresses ?? []);
  const resolvConfText = await node.resolvConf();
  const attempt = observed?.attempt ?? actions.attempt;
  const sandbox = step.buildSandboxConfig(pod, attempt, { ...node, resolvConfText }, step.directories);
  const hostsFile = await preparation.writeHosts(pod, addresses);
  return { sandboxId, addresses, prepared, hostsFile, sandbox: markSandbox(sandbox, pod, node.name) };
}

async function prepare(step: Step): Promise<PreparedPod> {
  const { worker, preparation, signal } = step;
  step.faults.at('before prepare');
  const span = worker.trace.child('prepare volumes');
  const work = () => preparation.prepare(worker.pod, signal);
  const prepared = await telling(step, 'FailedMount', 'volumes are not available', work).finally(() =>
    span.end(),
  );
  step.faults.at('after prepare');
  return prepared;
}

function summarise(step: Step, results: readonly StartResult[]): SyncResult {
  const pauses = results.flatMap((result) => {
    if (result.kind === 'paused') return [result.pause];
    return result.kind === 'failed' ? [jittered(step.settings.retryMs, step.random)] : [];
  });
  return {
    again: results.some(({ kind }) => kind === 'started' || kind === 'ended'),
    pause: Math.min(Infinity, ...pauses),
  };
}
