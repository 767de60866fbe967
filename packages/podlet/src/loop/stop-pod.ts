import { isAlive, type ObservedContainer } from '../lifecycle/observed.js';
import { collectable } from '../lifecycle/garbage.js';
import { roleOf } from '../lifecycle/container-plan.js';
import { remainingGrace } from '../lifecycle/grace.js';
import { logOwner } from './log-owners.js';
import { ignoreGone, podGrace, stopOne } from './stop-container.js';
import { callRuntime, type Step, telling } from './step.js';

/**
 * All containers in parallel, sidecars after the others and in reverse order, then StopPodSandbox on every sandbox, even
 * stopped ones: only that makes sure that its network is gone. Goes on after errors within each part.
 * @throws AggregateError before the next part, so that no network is taken from a container that still runs
 */
export async function stopPod(step: Step): Promise<void> {
  await telling(step, 'FailedKillPod', 'error killing pod', async () => {
    await stopContainers(step);
    const { sandboxes } = step.view.observed(step.worker.uid);
    await allOf(sandboxes.map(({ id }) => stopSandbox(step, id)));
  });
}

async function stopContainers(step: Step): Promise<void> {
  const begin = step.clock.elapsed();
  const alive = step.view.observed(step.worker.uid).containers.filter(isAlive);
  const isSidecar = (one: ObservedContainer) => sidecarRank(step, one) >= 0;
  await allOf(alive.filter((one) => !isSidecar(one)).map((container) => stopOne(step, { container })));
  const sidecars = alive
    .filter(isSidecar)
    .sort((one, other) => sidecarRank(step, other) - sidecarRank(step, one));
  for (const container of sidecars) {
    const grace = podGrace(step);
    const left = grace === 0 ? 0 : remainingGrace(grace, step.clock.elapsed() - begin);
    await stopOne(step, { container, graceSeconds: left });
  }
}

/** Its place among the init containers; −1 for everything that is no sidecar. */
function sidecarRank(step: Step, instance: ObservedContainer): number {
  const { initContainers } = step.worker.pod.spec;
  const index = initContainers.findIndex(({ name }) => name === instance.name);
  const found = initContainers[index];
  if (found !== undefined) return roleOf(found, true) === 'sidecar' ? index : -1;
  return step.view.endOf(instance.id)?.role === 'sidecar' ? 0 : -1;
}

async function stopSandbox(step: Step, podSandboxId: string): Promise<void> {
  await ignoreGone(() =>
    callRuntime(step, 'StopPodSandbox', (options) => step.runtime.stopPodSandbox({ podSandboxId }, options)),
  );
  await callRuntime(step, 'PodSandboxStatus', () => step.view.refreshSandbox(podSandboxId, step.signal));
}

/** Removes what the pod does not need any more. Stop comes before Remove, always. @throws AggregateError */
export async function collectGarbage(step: Step, wanted: boolean): Promise<void> {
  const { containers, sandboxes } = collectable(step.view.observed(step.worker.uid), wanted);
  await allOf(containers.map((container) => removeContainer(step, container)));
  await allOf(sandboxes.map(({ id }) => removeSandbox(step, id)));
}

async function removeContainer(step: Step, container: ObservedContainer): Promise<void> {
  const { id: containerId } = container;
  await ignoreGone(() =>
    callRuntime(step, 'RemoveContainer', (options) => step.runtime.removeContainer({ containerId }, options)),
  );
  step.view.forget(containerId);
  const owner = logOwner(step.worker.pod.metadata, container);
  if (owner !== undefined) await step.containerLogs?.removed(owner);
}

export async function removeSandbox(step: Step, podSandboxId: string): Promise<void> {
  await ignoreGone(() =>
    callRuntime(step, 'StopPodSandbox', (options) => step.runtime.stopPodSandbox({ podSandboxId }, options)),
  );
  await ignoreGone(() =>
    callRuntime(step, 'RemovePodSandbox', (options) =>
      step.runtime.removePodSandbox({ podSandboxId }, options),
    ),
  );
  step.view.forget(podSandboxId);
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
