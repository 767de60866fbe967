import type { Pod, PodMetadata, PodSpec, PodStatus } from '@podwire/pod-spec';
import type { Waiting } from './container-status.js';

/** A container gets at least this long to end, however long its preStop hook took (specification §1.6). */
export const leastGraceSeconds = 2;
/** 68 years. Runtimes count in nanoseconds: what does not fit into 64 bits of them would be no time at all. */
export const mostGraceSeconds = 2 ** 31 - 1;

export function graceOf(pod: {
  readonly metadata: Pick<PodMetadata, 'deletionGracePeriodSeconds'>;
  readonly spec: Pick<PodSpec, 'terminationGracePeriodSeconds'>;
}): number {
  return pod.metadata.deletionGracePeriodSeconds ?? pod.spec.terminationGracePeriodSeconds;
}

/** Whole seconds, as CRI takes them. `spentMs`: what the hook, and the containers that go before, have used. */
export function remainingGrace(graceSeconds: number, spentMs: number): number {
  return Math.max(leastGraceSeconds, Math.ceil(graceSeconds - spentMs / 1000));
}

/**
 * `spec.activeDeadlineSeconds`: how long a pod may be active at all, counted from its start.
 * @returns milliseconds that are left, Infinity without a deadline; 0 when it is over
 */
export function remainingActivity(pod: Pod, status: PodStatus, now: number): number {
  const { activeDeadlineSeconds } = pod.spec;
  if (typeof activeDeadlineSeconds !== 'number' || status.startTime === undefined) return Infinity;
  return Math.max(0, Date.parse(status.startTime) + activeDeadlineSeconds * 1000 - now);
}

export const deadlineExceeded: Waiting = {
  reason: 'DeadlineExceeded',
  message: 'Pod was active on the node longer than the specified deadline',
};
