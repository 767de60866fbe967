import type { PodMetadata, PodSpec } from '@podwire/pod-spec';

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
