import { describeError } from '@podwire/errors';
import type { ContainerConfig, PodSandboxConfig } from '@podwire/cri';
import type { StartAction } from '../lifecycle/container-plan.js';
import type { Waiting } from '../lifecycle/container-status.js';
import { newestInstance } from '../lifecycle/observed.js';
import { readImageUser } from '../images/ensure-image.js';
import type { ImageUser, PreparedPod } from '../parts.js';
import { type Container, podName } from '@podwire/pod-spec';
import { haveImage } from './have-image.js';
import { logOwner } from './log-owners.js';
import { markContainer } from './marks.js';
import { stopOne } from './stop-container.js';
import { callRuntime, type Step } from './step.js';

/** Where containers of one turn start. */
export interface Place {
  readonly sandboxId: string;
  /** As the sandbox was, or would be, created. */
  readonly sandbox: PodSandboxConfig;
  readonly addresses: readonly string[];
  readonly hostsFile?: string;
  readonly prepared: PreparedPod;
}

/**
 * `ended`: it was created and its program could not be run, so its restart policy decides. `pause`: milliseconds until it may
 * be tried again; an error is one that nobody expects to go away soon.
 */
export type StartResult =
  | { readonly kind: 'started' | 'ended' }
  | { readonly kind: 'paused'; readonly pause: number }
  | { readonly kind: 'failed'; readonly error: unknown };

/** Image, create, start, postStart. Whatever goes wrong is this container's affair only and ends in its status. */
export async function startContainer(step: Step, place: Place, start: StartAction): Promise<StartResult> {
  const { worker } = step;
  const { name } = start.container;
  const pause = remainingPause(step, start);
  if (pause > 0) return { kind: 'paused', pause };
  try {
    const image = await haveImage(step, place.sandbox, start.container);
    if (image.kind === 'paused') return image;
    await create(step, place, start, image.ref);
    worker.waiting.delete(name);
    return { kind: 'started' };
  } catch (error) {
    noteFailure(step, name, error);
    return hasEnded(step, start) ? { kind: 'ended' } : { kind: 'failed', error };
  }
}

function hasEnded({ view, worker }: Step, { container, attempt }: StartAction): boolean {
  const newest = newestInstance(view.observed(worker.uid), container.name);
  return newest?.state === 'exited' && newest.attempt === attempt;
}

/** 10 s that double to 5 min after each end, counted from the end (specification §1.4). */
function remainingPause(step: Step, { container }: StartAction): number {
  const { worker, clock } = step;
  const newest = newestInstance(step.view.observed(worker.uid), container.name);
  if (newest?.state !== 'exited') return 0;
  const since = newest.finishedAt || newest.createdAt;
  const remaining = worker.restarts.remaining(container.name, since, clock.now());
  if (remaining === 0) {
    worker.restarts.next(container.name, clock.now());
    return 0;
  }
  const pause = `${Math.round(worker.restarts.pause(container.name) / 1000)}s`;
  const message = `back-off ${pause} restarting failed container=${container.name} pod=${podName(worker.pod)}`;
  if (worker.waiting.get(container.name)?.reason !== 'CrashLoopBackOff') {
    step.tell(
      'Warning',
      'BackOff',
      `Back-off restarting failed container ${container.name} in pod ${podName(worker.pod)}`,
    );
  }
  worker.waiting.set(container.name, { reason: 'CrashLoopBackOff', message });
  return remaining;
}

async function create(step: Step, place: Place, start: StartAction, imageRef: string): Promise<void> {
  const { worker, view } = step;
  const { container } = start;
  await removeUnstarted(step, container.name);
  // What was found out about an instance that has ended by itself says nothing of the next one.
  step.prober.forget(worker.uid, container.name);
  const config = buildConfig(step, place, start, await findFurther(step, start, imageRef));
  const id = await relisting(step, () => createAndStart(step, place, container.name, config));
  await callRuntime(step, 'ContainerStatus', () => view.refreshContainer(id, place.sandboxId, step.signal));
  worker.waiting.delete(container.name);
  worker.interrupted.delete(container.name);
  await noteLog(step, id);
  step.tell('Normal', 'Started', `Started container ${container.name}`);
  step.show();
  await runPostStart(step, place, start, id);
}

async function noteLog(step: Step, id: string): Promise<void> {
  const { worker, view, containerLogs } = step;
  const found = view.observed(worker.uid).containers.find((one) => one.id === id);
  const owner = found === undefined ? undefined : logOwner(worker.pod.metadata, found);
  if (owner !== undefined) await containerLogs?.started(owner);
}

async function createAndStart(
  step: Step,
  place: Place,
  name: string,
  config: ContainerConfig,
): Promise<string> {
  const { runtime } = step;
  const request = { podSandboxId: place.sandboxId, config, sandboxConfig: place.sandbox };
  const { containerId } = await callRuntime(step, 'CreateContainer', (options) =>
    runtime.createContainer(request, options),
  );
  step.tell('Normal', 'Created', `Created container ${name}`);
  await callRuntime(step, 'StartContainer', (options) => runtime.startContainer({ containerId }, options));
  return containerId;
}

async function findFurther(step: Step, start: StartAction, imageRef: string): Promise<Further> {
  const { container, attempt } = start;
  const { pod } = step.worker;
  const terminationLog = await step.preparation.createTerminationLog(pod, container.name, attempt);
  const imageUser = await findImageUser(step, container, imageRef);
  return { imageRef, terminationLog, ...(imageUser === undefined ? {} : { imageUser }) };
}

interface Further {
  readonly imageRef: string;
  readonly terminationLog: string;
  readonly imageUser?: ImageUser;
}

/** Only asked for when something depends on it: a group without a user, or the promise not to be root. */
async function findImageUser(
  step: Step,
  container: Container,
  imageRef: string,
): Promise<ImageUser | undefined> {
  const { securityContext: own } = container;
  const { securityContext: pod } = step.worker.pod.spec;
  const depends =
    (own.runAsNonRoot ?? pod.runAsNonRoot) === true || (own.runAsGroup ?? pod.runAsGroup) !== undefined;
  if (!depends || (own.runAsUser ?? pod.runAsUser) !== undefined) return undefined;
  return callRuntime(step, 'ImageStatus', (options) => readImageUser(step.runtime, imageRef, options));
}

function buildConfig(step: Step, place: Place, start: StartAction, further: Further): ContainerConfig {
  const { worker } = step;
  const { container, attempt, role } = start;
  const config = step.buildContainerConfig({
    pod: worker.pod,
    container,
    attempt,
    prepared: place.prepared,
    addresses: place.addresses,
    ...(place.hostsFile === undefined ? {} : { hostsFile: place.hostsFile }),
    ...further,
    recursiveReadOnly:
      step.features(worker.pod.spec.runtimeClassName ?? '')?.recursiveReadOnlyMounts ?? false,
    node: step.node,
    directories: step.directories,
  });
  return markContainer(config, worker.pod, step.node.name, role);
}

/** A call that failed may have had its effect: the next turn has to see it. */
async function relisting<T>(step: Step, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!step.signal.aborted) await step.view.refreshPod(step.worker.uid, step.signal).catch(() => undefined);
    throw error;
  }
}

/** Created and never started, by an attempt that was interrupted: its name would be in the way. */
async function removeUnstarted(step: Step, name: string): Promise<void> {
  const { view, worker, runtime } = step;
  const left = view
    .observed(worker.uid)
    .containers.filter((one) => one.name === name && one.state === 'created');
  for (const { id } of left) {
    await callRuntime(step, 'RemoveContainer', (options) =>
      runtime.removeContainer({ containerId: id }, options),
    );
    view.forget(id);
  }
}

class PostStartError extends Error {
  override readonly name = 'PostStartError';
}

/**
 * A container whose postStart hook fails ends as any other one, with its preStop hook and its grace period: it may have begun
 * to write. Its restart policy then applies.
 */
async function runPostStart(step: Step, place: Place, start: StartAction, id: string): Promise<void> {
  const { container } = start;
  const action = container.lifecycle?.postStart;
  if (action === undefined) return;
  const { pod } = step.worker;
  const target = { pod, container, containerId: id, address: place.addresses[0] ?? '' };
  try {
    await step.runHook(action, target, step.signal);
  } catch (error) {
    // The pod is being taken down, and its containers with it.
    if (step.signal.aborted) throw error;
    step.tell(
      'Warning',
      'FailedPostStartHook',
      `PostStartHook of container ${container.name} failed: ${describeError(error)}`,
    );
    const instance = step.view.observed(step.worker.uid).containers.find((one) => one.id === id);
    if (instance === undefined) throw error;
    step.tell('Normal', 'Killing', `Stopping container ${container.name}: its postStart hook failed`);
    await stopOne(step, { container: instance });
    throw new PostStartError(describeError(error), { cause: error });
  }
}

function noteFailure(step: Step, name: string, error: unknown): void {
  if (step.signal.aborted) return;
  const waiting = waitingFor(error);
  step.worker.waiting.set(name, waiting);
  step.tell('Warning', 'Failed', `Error: container ${name}: ${waiting.message ?? waiting.reason}`);
}

function waitingFor(error: unknown): Waiting {
  const message = describeError(error);
  if (error instanceof PostStartError) return { reason: 'PostStartHookError', message };
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return {
    reason: code === 'CONTAINER_CONFIG_INVALID' ? 'CreateContainerConfigError' : 'RunContainerError',
    message,
  };
}
