import { localAnnotations, type Pod } from '@podwire/pod-spec';

/** Of the two classes that the system itself has (Kubernetes API, scheduling). */
const leastSystemPriority = 2_000_000_000;
const systemClasses: readonly unknown[] = ['system-node-critical', 'system-cluster-critical'];

/** In a file the priority class is not resolved to its number. */
export function isSystemCritical({ spec }: Pick<Pod, 'spec'>): boolean {
  const { priority, priorityClassName } = spec;
  if (typeof priority === 'number') return priority >= leastSystemPriority;
  return systemClasses.includes(priorityClassName);
}

/**
 * The node itself does not work without it, so the kernel takes its memory last (pkg/kubelet/types, IsNodeCriticalPod). Earlier
 * kubelets had that for every pod of a file; where all pods are of files, all would then be spared, and the node's own services not.
 */
export function isNodeCritical(pod: Pick<Pod, 'metadata' | 'spec'>): boolean {
  return pod.spec['priorityClassName'] === 'system-node-critical' && (isStatic(pod) || isSystemCritical(pod));
}

/** The kubelet's notion of a static pod: it stands on this machine, and no scheduler knows of it. */
export function isStatic({ metadata }: Pick<Pod, 'metadata'>): boolean {
  const source = metadata.annotations[localAnnotations.source];
  return source === 'file' || source === 'http';
}

/**
 * Rank of a pod, which decides the pods that must make room for it. The kubelet evicts pods of the API for static and
 * for critical ones; without eviction a pod counts only what pods of its rank, and of higher ones, have asked for.
 */
export function rankOf(pod: Pick<Pod, 'metadata' | 'spec'>): number {
  if (isSystemCritical(pod)) return 2;
  return isStatic(pod) ? 1 : 0;
}
