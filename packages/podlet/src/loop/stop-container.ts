import { isCriError } from '@podwire/cri';
import { describeError } from '@podwire/errors';
import { graceOf, leastGraceSeconds, mostGraceSeconds, remainingGrace } from '../lifecycle/grace.js';
import type { ObservedContainer } from '../lifecycle/observed.js';
import type { ProbeAction } from '@podwire/pod-spec';
import type { HookTarget } from '../hooks/index.js';
import { callRuntime, type Step } from './step.js';

export interface StopWish {
  readonly container: ObservedContainer;
  /** All the time it has, its hook included. Seconds; the pod's when absent. */
  readonly graceSeconds?: number;
}

/**
 * preStop hook, then StopContainer with what is left of the grace period (specification §1.6: never below 2 s, but for
 * a grace period of 0, which is somebody's explicit wish). One that is gone already is stopped.
 * @throws CriError when the runtime could not stop it
 */
export async function stopOne(step: Step, wish: StopWish): Promise<void> {
  const { container } = wish;
  const grace = wish.graceSeconds ?? podGrace(step);
  step.prober.forget(step.worker.uid, container.name);
  const spent = await runPreStop(step, container, grace);
  const timeout = grace === 0 ? 0 : remainingGrace(grace, spent);
  await ignoreGone(() => stop(step, container.id, timeout));
  await callRuntime(step, 'ContainerStatus', () =>
    step.view.refreshContainer(container.id, container.sandboxId, step.signal),
  );
}

async function stop(step: Step, containerId: string, seconds: number): Promise<void> {
  const deadline = seconds * 1000 + step.settings.callTimeoutMs;
  await callRuntime(
    step,
    'StopContainer',
    (options) => step.runtime.stopContainer({ containerId, timeout: BigInt(seconds) }, options),
    deadline,
  );
}

export function podGrace({ worker }: Step): number {
  return Math.min(mostGraceSeconds, worker.kill?.graceSeconds ?? graceOf(worker.pod));
}

/** @returns how long it took, in milliseconds. A hook that fails, or takes too long, does not save its container. */
async function runPreStop(step: Step, container: ObservedContainer, graceSeconds: number): Promise<number> {
  const hook = findPreStop(step, container);
  if (hook === undefined || container.state !== 'running' || graceSeconds === 0) return 0;
  const begin = step.clock.elapsed();
  const limit = Math.max(leastGraceSeconds, graceSeconds) * 1000;
  try {
    await withLimit(step, limit, (signal) => step.runHook(hook.action, { ...hook.target, limit }, signal));
  } catch (error) {
    if (step.signal.aborted) throw error;
    step.tell(
      'Warning',
      'FailedPreStopHook',
      `PreStopHook of container ${container.name} failed: ${describeError(error)}`,
    );
  }
  return step.clock.elapsed() - begin;
}

interface PreStop {
  readonly action: ProbeAction;
  readonly target: HookTarget;
}

/** From the specification, or, when that is gone, from what is written on the container. */
function findPreStop(step: Step, instance: ObservedContainer): PreStop | undefined {
  const { pod } = step.worker;
  const all = [...pod.spec.containers, ...pod.spec.initContainers];
  const container = all.find(({ name }) => name === instance.name);
  const end = step.view.endOf(instance.id);
  const action = container === undefined ? end?.preStop : container.lifecycle?.preStop;
  if (action === undefined) return undefined;
  const address =
    step.view.observed(step.worker.uid).sandboxes[0]?.addresses[0] ?? step.node.addresses[0] ?? '';
  const ports = container?.ports ?? end?.ports ?? [];
  return {
    action,
    target: { pod, container: { name: instance.name, ports }, containerId: instance.id, address },
  };
}

/** Ends the work when it takes longer, by our own clock. */
async function withLimit(
  step: Step,
  milliseconds: number,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const over = new AbortController();
  const done = new AbortController();
  const either = AbortSignal.any([step.signal, over.signal]);
  const timer = step.clock.sleep(milliseconds, AbortSignal.any([step.signal, done.signal])).then(
    () => over.abort(new Error(`it took longer than ${milliseconds / 1000} s`)),
    () => undefined,
  );
  try {
    await work(either);
  } finally {
    done.abort();
    await timer;
  }
}

export async function ignoreGone(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isCriError(error, 'NOT_FOUND')) throw error;
  }
}
