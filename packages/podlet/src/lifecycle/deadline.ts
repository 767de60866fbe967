import type { Pod, PodStatus } from '@podwire/pod-spec';
import type { Waiting } from './container-status.js';

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
