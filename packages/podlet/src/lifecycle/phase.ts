import type { ContainerStatus, Pod, PodPhase } from '@podwire/pod-spec';
import { roleOf } from './container-plan.js';

export function isTerminal(phase: PodPhase): boolean {
  return phase === 'Succeeded' || phase === 'Failed';
}

/**
 * Specification §1.6 "phase rules". Terminal phases are the caller's affair: this looks at the present only.
 * A container that waits to be started again counts as stopped, one that was never started as waiting.
 */
export function computePhase(
  pod: Pod,
  init: readonly ContainerStatus[],
  normal: readonly ContainerStatus[],
): PodPhase {
  const policy = pod.spec.restartPolicy;
  const initialisation = evaluateInit(pod, init, normal);
  if (initialisation === 'failed' && policy === 'Never') return 'Failed';
  if (initialisation !== 'done') return 'Pending';
  const counts = count(normal);
  if (counts.waiting > 0) return 'Pending';
  if (counts.running > 0) return 'Running';
  if (counts.stopped === 0) return 'Pending';
  if (policy === 'Always') return 'Running';
  if (counts.stopped === counts.succeeded) return 'Succeeded';
  return policy === 'Never' ? 'Failed' : 'Running';
}

function evaluateInit(
  pod: Pod,
  init: readonly ContainerStatus[],
  normal: readonly ContainerStatus[],
): 'done' | 'pending' | 'failed' {
  const begun = normal.some((status) => status.containerID !== '');
  const states = pod.spec.initContainers.map((container, index) =>
    evaluateOne(roleOf(container, true) === 'sidecar', init[index], begun),
  );
  if (states.includes('failed')) return 'failed';
  return states.every((state) => state === 'done') ? 'done' : 'pending';
}

/** Once normal containers have begun, a sidecar that restarts does not throw the pod back to Pending. */
function evaluateOne(
  sidecar: boolean,
  status: ContainerStatus | undefined,
  begun: boolean,
): 'done' | 'pending' | 'failed' {
  if (sidecar) return begun || status?.started === true ? 'done' : 'pending';
  const ended = status?.state.terminated ?? (begun ? status?.lastState.terminated : undefined);
  if (ended !== undefined) return ended.exitCode === 0 ? 'done' : 'failed';
  return 'pending';
}

function count(
  statuses: readonly ContainerStatus[],
): Record<'waiting' | 'running' | 'stopped' | 'succeeded', number> {
  const counts = { waiting: 0, running: 0, stopped: 0, succeeded: 0 };
  for (const { state, lastState } of statuses) {
    const ended = state.terminated ?? (state.waiting === undefined ? undefined : lastState.terminated);
    if (state.running !== undefined) counts.running += 1;
    else if (ended === undefined) counts.waiting += 1;
    else counts.stopped += 1;
    if (state.terminated?.exitCode === 0) counts.succeeded += 1;
  }
  return counts;
}
