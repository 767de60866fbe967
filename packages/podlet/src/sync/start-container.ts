import { describeError, PodwireError } from '@podwire/errors';
import type { ContainerConfig, PodSandboxConfig } from '@podwire/cri';
import { compact } from '@podwire/platform';
import type { StartAction } from '../lifecycle/container-plan.js';
import type { Waiting } from '../lifecycle/container-status.js';
import { newestInstance } from '../lifecycle/observed.js';
import { readImageUser } from '../images/ensure-image.js';
import type { ImageUser, PreparedPod } from '../parts.js';
import { type Container, podName } from '@podwire/pod-spec';
import { logOwner } from '../runtime/log-owners.js';
import { labelContainer } from '../runtime/labels.js';
import { stopOne } from './stop-pod.js';
import { callRuntime, type ImageContext, type StartContext } from './sync-context.js';

/** A sandbox that is ready for containers. */
export interface ReadySandbox {
  readonly sandboxId: string;
  /** As the sandbox was, or would be, created. */
  readonly sandbox: PodSandboxConfig;
  readonly addresses: readonly string[];
  readonly hostsFile?: string;
  readonly prepared: PreparedPod;
}

/**
 * `ended`: it was created and its program could not be run, so its restart policy decides. `pause`: milliseconds until it may
 * be tried again; an error is one that is not expected to go away soon.
 */
export type StartResult =
  | { readonly kind: 'started' | 'ended' }
  | { readonly kind: 'paused'; readonly pause: number }
  | { readonly kind: 'failed'; readonly error: unknown };

/** Image, create, start, postStart. Whatever goes wrong is this container's affair only and ends in its status. */
export async function startContainer(
  context: StartContext,
  place: ReadySandbox,
  start: StartAction,
): Promise<StartResult> {
  const { worker } = context;
  const { name } = start.container;
  const pause = remainingBackOff(context, start);
  if (pause > 0) return { kind: 'paused', pause };
  try {
    const image = await ensureImageExists(context, place.sandbox, start.container);
    if (image.kind === 'paused') return image;
    await create(context, place, start, image.ref);
    worker.waiting.delete(name);
    return { kind: 'started' };
  } catch (error) {
    reportStartFailure(context, name, error);
    return hasEnded(context, start) ? { kind: 'ended' } : { kind: 'failed', error };
  }
}

function hasEnded({ view, worker }: StartContext, { container, attempt }: StartAction): boolean {
  const newest = newestInstance(view.observed(worker.uid), container.name);
  return newest?.state === 'exited' && newest.attempt === attempt;
}

/** 10 s that double to 5 min after each end, counted from the end (specification §1.4). */
function remainingBackOff(context: StartContext, { container }: StartAction): number {
  const { worker, clock } = context;
  const newest = newestInstance(context.view.observed(worker.uid), container.name);
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
    context.recordEvent(
      'Warning',
      'BackOff',
      `Back-off restarting failed container ${container.name} in pod ${podName(worker.pod)}`,
    );
  }
  worker.waiting.set(container.name, { reason: 'CrashLoopBackOff', message });
  return remaining;
}

async function create(
  context: StartContext,
  place: ReadySandbox,
  start: StartAction,
  imageRef: string,
): Promise<void> {
  const { worker, view } = context;
  const { container } = start;
  await removeUnstarted(context, container.name);
  // Probe results of an instance that has ended say nothing of the next one.
  context.prober.forget(worker.uid, container.name);
  const config = buildConfig(context, place, start, await findFurther(context, start, imageRef));
  const id = await relisting(context, () => createAndStart(context, place, container.name, config));
  await callRuntime(context, 'ContainerStatus', () =>
    view.refreshContainer(id, place.sandboxId, context.signal),
  );
  worker.waiting.delete(container.name);
  worker.interrupted.delete(container.name);
  await noteLog(context, id);
  context.recordEvent('Normal', 'Started', `Started container ${container.name}`);
  context.updateStatus();
  await runPostStart(context, place, start, id);
}

async function noteLog(context: StartContext, id: string): Promise<void> {
  const { worker, view, containerLogs } = context;
  const found = view.observed(worker.uid).containers.find((one) => one.id === id);
  const owner = found === undefined ? undefined : logOwner(worker.pod.metadata, found);
  if (owner !== undefined) await containerLogs?.started(owner);
}

async function createAndStart(
  context: StartContext,
  place: ReadySandbox,
  name: string,
  config: ContainerConfig,
): Promise<string> {
  const { runtime } = context;
  const request = { podSandboxId: place.sandboxId, config, sandboxConfig: place.sandbox };
  const { containerId } = await callRuntime(context, 'CreateContainer', (options) =>
    runtime.createContainer(request, options),
  );
  context.recordEvent('Normal', 'Created', `Created container ${name}`);
  await callRuntime(context, 'StartContainer', (options) => runtime.startContainer({ containerId }, options));
  return containerId;
}

async function findFurther(context: StartContext, start: StartAction, imageRef: string): Promise<Further> {
  const { container, attempt } = start;
  const { pod } = context.worker;
  const terminationLog = await context.preparation.createTerminationLog(pod, container.name, attempt);
  const imageUser = await findImageUser(context, container, imageRef);
  return { imageRef, terminationLog, ...compact({ imageUser }) };
}

interface Further {
  readonly imageRef: string;
  readonly terminationLog: string;
  readonly imageUser?: ImageUser;
}

/** Only asked for when something depends on it: a group without a user, or the promise not to be root. */
async function findImageUser(
  context: StartContext,
  container: Container,
  imageRef: string,
): Promise<ImageUser | undefined> {
  const { securityContext: own } = container;
  const { securityContext: pod } = context.worker.pod.spec;
  const depends =
    (own.runAsNonRoot ?? pod.runAsNonRoot) === true || (own.runAsGroup ?? pod.runAsGroup) !== undefined;
  if (!depends || (own.runAsUser ?? pod.runAsUser) !== undefined) return undefined;
  return callRuntime(context, 'ImageStatus', (options) => readImageUser(context.runtime, imageRef, options));
}

function buildConfig(
  context: StartContext,
  place: ReadySandbox,
  start: StartAction,
  further: Further,
): ContainerConfig {
  const { worker } = context;
  const { container, attempt, role } = start;
  const config = context.buildContainerConfig({
    pod: worker.pod,
    container,
    attempt,
    prepared: place.prepared,
    addresses: place.addresses,
    ...compact({ hostsFile: place.hostsFile }),
    ...further,
    recursiveReadOnly:
      context.features(worker.pod.spec.runtimeClassName ?? '')?.recursiveReadOnlyMounts ?? false,
    node: context.node,
    directories: context.directories,
  });
  return labelContainer(config, worker.pod, context.node.name, role);
}

/** A call that failed may have had its effect: the next sync has to see it. */
async function relisting<T>(context: StartContext, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!context.signal.aborted)
      await context.view.refreshPod(context.worker.uid, context.signal).catch(() => undefined);
    throw error;
  }
}

/** Created and never started, by an attempt that was interrupted: its name would be in the way. */
async function removeUnstarted(context: StartContext, name: string): Promise<void> {
  const { view, worker, runtime } = context;
  const left = view
    .observed(worker.uid)
    .containers.filter((one) => one.name === name && one.state === 'created');
  for (const { id } of left) {
    await callRuntime(context, 'RemoveContainer', (options) =>
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
async function runPostStart(
  context: StartContext,
  place: ReadySandbox,
  start: StartAction,
  id: string,
): Promise<void> {
  const { container } = start;
  const action = container.lifecycle?.postStart;
  if (action === undefined) return;
  const { pod } = context.worker;
  const target = { pod, container, containerId: id, address: place.addresses[0] ?? '' };
  try {
    await context.runHook(action, target, context.signal);
  } catch (error) {
    // The pod is being taken down, and its containers with it.
    if (context.signal.aborted) throw error;
    context.recordEvent(
      'Warning',
      'FailedPostStartHook',
      `PostStartHook of container ${container.name} failed: ${describeError(error)}`,
    );
    const instance = context.view.observed(context.worker.uid).containers.find((one) => one.id === id);
    if (instance === undefined) throw error;
    context.recordEvent(
      'Normal',
      'Killing',
      `Stopping container ${container.name}: its postStart hook failed`,
    );
    await stopOne(context, { container: instance });
    throw new PostStartError(describeError(error), { cause: error });
  }
}

function reportStartFailure(context: StartContext, name: string, error: unknown): void {
  if (context.signal.aborted) return;
  const waiting = waitingFor(error);
  context.worker.waiting.set(name, waiting);
  context.recordEvent('Warning', 'Failed', `Error: container ${name}: ${waiting.message ?? waiting.reason}`);
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

export type ImageResult =
  { readonly kind: 'there'; readonly ref: string } | { readonly kind: 'paused'; readonly pause: number };

/** The image of a container, with pauses that double after each failure. The status says which. */
export async function ensureImageExists(
  context: ImageContext,
  sandbox: PodSandboxConfig,
  container: Container,
): Promise<ImageResult> {
  const pause = remainingPullBackOff(context, container);
  if (pause > 0) return { kind: 'paused', pause };
  try {
    const ref = await callRuntime(context, 'EnsureImage', () =>
      context.ensureImage(context.runtime, context.worker.pod, container, sandbox, context.signal),
    );
    context.worker.images.delete(container.image);
    context.worker.imagePauses.forget(container.image);
    return { kind: 'there', ref };
  } catch (error) {
    return { kind: 'paused', pause: reportPullFailure(context, container, error) };
  }
}

function remainingPullBackOff({ worker, clock }: ImageContext, { name, image }: Container): number {
  const failure = worker.images.get(image);
  if (failure === undefined) return 0;
  const remaining = worker.imagePauses.remaining(image, failure.at, clock.now());
  if (remaining > 0) worker.waiting.set(name, backingOff(failure.waiting, image));
  return remaining;
}

/** A name that cannot be one, and an image that may not be pulled, are shown as they are all the time. */
function backingOff(waiting: { readonly reason: string; readonly message?: string }, image: string) {
  if (waiting.reason !== 'ErrImagePull' && waiting.reason !== 'RegistryUnavailable') return waiting;
  const why = waiting.message === undefined ? '' : `: ${waiting.message}`;
  return { reason: 'ImagePullBackOff', message: `Back-off pulling image "${image}"${why}` };
}

function reportPullFailure(context: ImageContext, container: Container, error: unknown): number {
  if (context.signal.aborted) throw error;
  const { worker, clock } = context;
  const waiting = { reason: reasonOf(error), message: describeError(error) };
  worker.images.set(container.image, { at: clock.now(), waiting });
  worker.imagePauses.next(container.image, clock.now());
  worker.waiting.set(container.name, waiting);
  context.recordEvent(
    'Warning',
    'Failed',
    `Failed to pull image "${container.image}" of container ${container.name}: ${waiting.message}`,
  );
  // Synced again soon, so that the status goes from ErrImagePull to ImagePullBackOff, as in Kubernetes.
  return Math.min(context.settings.syncMs, worker.imagePauses.pause(container.image));
}

function reasonOf(error: unknown): string {
  const reason = error instanceof PodwireError ? error.details.reason : undefined;
  return typeof reason === 'string' ? reason : 'ErrImagePull';
}
