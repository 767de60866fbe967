import { isAlive, type ObservedContainer } from '../lifecycle/observed.js';
import { collectable } from '../lifecycle/garbage.js';
import { roleOf } from '../lifecycle/container-plan.js';
import { graceOf, leastGraceSeconds, mostGraceSeconds, remainingGrace } from '../lifecycle/grace.js';
import { logOwner } from '../runtime/log-owners.js';
import { callRuntime, type StopContext, withFailureEvent } from './sync-context.js';
import { isCriError } from '@podwire/cri';
import { describeError } from '@podwire/errors';
import { orUndefined, withDeadline } from '@podwire/platform';
import type { ProbeAction } from '@podwire/pod-spec';
import type { HookTarget } from '../hooks/index.js';

/**
 * All containers in parallel, sidecars after the others and in reverse order, then StopPodSandbox on every sandbox, even
 * stopped ones: only that makes sure that its network is gone. Goes on after errors within each part.
 * @throws AggregateError before the next part, so that no network is taken from a container that still runs
 */
export async function stopPod(context: StopContext): Promise<void> {
  await withFailureEvent(context, 'FailedKillPod', 'error killing pod', async () => {
    await stopContainers(context);
    const { sandboxes } = context.view.observed(context.worker.uid);
    await allOf(sandboxes.map(({ id }) => stopSandbox(context, id)));
  });
}

async function stopContainers(context: StopContext): Promise<void> {
  const begin = context.clock.elapsed();
  const alive = context.view.observed(context.worker.uid).containers.filter(isAlive);
  const isSidecar = (one: ObservedContainer) => sidecarRank(context, one) >= 0;
  await allOf(alive.filter((one) => !isSidecar(one)).map((container) => stopOne(context, { container })));
  const sidecars = alive
    .filter(isSidecar)
    .sort((one, other) => sidecarRank(context, other) - sidecarRank(context, one));
  for (const container of sidecars) {
    const grace = podGrace(context);
    const left = grace === 0 ? 0 : remainingGrace(grace, context.clock.elapsed() - begin);
    await stopOne(context, { container, graceSeconds: left });
  }
}

/** Its place among the init containers; −1 for everything that is no sidecar. */
function sidecarRank(context: StopContext, instance: ObservedContainer): number {
  const { initContainers } = context.worker.pod.spec;
  const index = initContainers.findIndex(({ name }) => name === instance.name);
  const found = initContainers[index];
  if (found !== undefined) return roleOf(found, true) === 'sidecar' ? index : -1;
  return context.view.endOf(instance.id)?.role === 'sidecar' ? 0 : -1;
}

async function stopSandbox(context: StopContext, podSandboxId: string): Promise<void> {
  await ignoreGone(() =>
    callRuntime(context, 'StopPodSandbox', (options) =>
      context.runtime.stopPodSandbox({ podSandboxId }, options),
    ),
  );
  await callRuntime(context, 'PodSandboxStatus', () =>
    context.view.refreshSandbox(podSandboxId, context.signal),
  );
}

/** Removes what the pod does not need any more. Stop comes before Remove, always. @throws AggregateError */
export async function collectGarbage(context: StopContext, wanted: boolean): Promise<void> {
  const { containers, sandboxes } = collectable(context.view.observed(context.worker.uid), wanted);
  await allOf(containers.map((container) => removeContainer(context, container)));
  await allOf(sandboxes.map(({ id }) => removeSandbox(context, id)));
}

async function removeContainer(context: StopContext, container: ObservedContainer): Promise<void> {
  const { id: containerId } = container;
  await ignoreGone(() =>
    callRuntime(context, 'RemoveContainer', (options) =>
      context.runtime.removeContainer({ containerId }, options),
    ),
  );
  context.view.forget(containerId);
  const owner = logOwner(context.worker.pod.metadata, container);
  if (owner !== undefined) await context.containerLogs?.removed(owner);
}

export async function removeSandbox(context: StopContext, podSandboxId: string): Promise<void> {
  await ignoreGone(() =>
    callRuntime(context, 'StopPodSandbox', (options) =>
      context.runtime.stopPodSandbox({ podSandboxId }, options),
    ),
  );
  await ignoreGone(() =>
    callRuntime(context, 'RemovePodSandbox', (options) =>
      context.runtime.removePodSandbox({ podSandboxId }, options),
    ),
  );
  context.view.forget(podSandboxId);
}

/** Waits for all of them, also when some fail. @throws the error, or an AggregateError of several */
export async function allOf(works: readonly Promise<void>[]): Promise<void> {
  const results = await Promise.allSettled(works);
  const errors = results.flatMap((result) =>
    result.status === 'rejected' ? [result.reason as unknown] : [],
  );
  if (errors.length === 1) throw errors[0];
  if (errors.length > 1) throw new AggregateError(errors, `${errors.length} of ${works.length} failed`);
}

export interface StopRequest {
  readonly container: ObservedContainer;
  /** All the time it has, its hook included. Seconds; the pod's when absent. */
  readonly graceSeconds?: number;
}

/**
 * preStop hook, then StopContainer with what is left of the grace period (specification §1.6: never below 2 s, but for
 * a grace period of 0, which is an explicit request). One that is gone already is stopped.
 * @throws CriError when the runtime could not stop it
 */
export async function stopOne(context: StopContext, request: StopRequest): Promise<void> {
  const { container } = request;
  const grace = request.graceSeconds ?? podGrace(context);
  context.prober.forget(context.worker.uid, container.name);
  const spent = await runPreStop(context, container, grace);
  const timeout = grace === 0 ? 0 : remainingGrace(grace, spent);
  await ignoreGone(() => stop(context, container.id, timeout));
  await callRuntime(context, 'ContainerStatus', () =>
    context.view.refreshContainer(container.id, container.sandboxId, context.signal),
  );
}

async function stop(context: StopContext, containerId: string, seconds: number): Promise<void> {
  const deadline = seconds * 1000 + context.settings.callTimeoutMs;
  await callRuntime(
    context,
    'StopContainer',
    (options) => context.runtime.stopContainer({ containerId, timeout: BigInt(seconds) }, options),
    deadline,
  );
}

export function podGrace({ worker }: StopContext): number {
  return Math.min(mostGraceSeconds, worker.kill?.graceSeconds ?? graceOf(worker.pod));
}

/** @returns how long it took, in milliseconds. A hook that fails, or takes too long, does not save its container. */
async function runPreStop(
  context: StopContext,
  container: ObservedContainer,
  graceSeconds: number,
): Promise<number> {
  const hook = findPreStop(context, container);
  if (hook === undefined || container.state !== 'running' || graceSeconds === 0) return 0;
  const begin = context.clock.elapsed();
  const limit = Math.max(leastGraceSeconds, graceSeconds) * 1000;
  try {
    const { clock, signal, runHook } = context;
    const run = (either: AbortSignal): Promise<void> =>
      runHook(hook.action, { ...hook.target, limit }, either);
    const reason = (): Error => new Error(`it took longer than ${limit / 1000} s`);
    await withDeadline(signal, limit, run, { clock, reason });
  } catch (error) {
    if (context.signal.aborted) throw error;
    context.recordEvent(
      'Warning',
      'FailedPreStopHook',
      `PreStopHook of container ${container.name} failed: ${describeError(error)}`,
    );
  }
  return context.clock.elapsed() - begin;
}

interface PreStop {
  readonly action: ProbeAction;
  readonly target: HookTarget;
}

/** From the specification, or, when that is gone, from what is written on the container. */
function findPreStop(context: StopContext, instance: ObservedContainer): PreStop | undefined {
  const { pod } = context.worker;
  const all = [...pod.spec.containers, ...pod.spec.initContainers];
  const container = all.find(({ name }) => name === instance.name);
  const end = context.view.endOf(instance.id);
  const action = container === undefined ? end?.preStop : container.lifecycle?.preStop;
  if (action === undefined) return undefined;
  const address =
    context.view.observed(context.worker.uid).sandboxes[0]?.addresses[0] ?? context.node.addresses[0] ?? '';
  const ports = container?.ports ?? end?.ports ?? [];
  return {
    action,
    target: { pod, container: { name: instance.name, ports }, containerId: instance.id, address },
  };
}

export async function ignoreGone(work: () => Promise<unknown>): Promise<void> {
  await orUndefined(work(), (error) => isCriError(error, 'NOT_FOUND'));
}
