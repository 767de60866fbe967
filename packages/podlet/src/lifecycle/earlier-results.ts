/** Results of probes that an earlier process of the pod agent had. */
import type { ContainerStatus, PodStatus } from '@podwire/pod-spec';
import type { ProbeKind } from '../parts.js';
import { newestInstance, type ObservedPod } from './observed.js';

/**
 * A container that had started, or was ready. It stays so until a probe says otherwise: a pod agent that begins knows less, and
 * less is no reason to take a pod out of its services (kubernetes/kubernetes #100277; the kubelet does so since 1.35).
 */
export interface EarlierResult {
  readonly name: string;
  /** The runtime's, without its name before it. */
  readonly containerId: string;
  readonly started: boolean;
  readonly ready: boolean;
}

/** Results that a status contains, be it of the API or our own. A container that has not started is left out. */
export function readEarlierResults(status: PodStatus): readonly EarlierResult[] {
  const all = [...status.initContainerStatuses, ...status.containerStatuses];
  return all.filter((each) => each.started && each.state.running !== undefined).map(toResult);
}

function toResult({ name, containerID, started, ready }: ContainerStatus): EarlierResult {
  return { name, containerId: containerID.replace(/^[^/]*:\/\//, ''), started, ready };
}

/** @returns true, or undefined where nothing good was known of the container that is there now */
export function findEarlierResult(
  results: readonly EarlierResult[],
  observed: ObservedPod,
  name: string,
  kind: ProbeKind,
): true | undefined {
  if (kind === 'liveness') return undefined;
  const id = newestInstance(observed, name)?.id;
  const earlier = results.find((each) => each.name === name && each.containerId === id);
  const isGood = kind === 'startup' ? earlier?.started : earlier?.ready;
  return isGood === true ? true : undefined;
}
