import type { ObservedContainer } from '../lifecycle/observed.js';
import type { LogOwner } from '../logs/index.js';
import type { RuntimeView } from './runtime-view.js';

type Names = { readonly namespace: string; readonly name: string };

/** @returns undefined for a container without a log */
export function logOwner({ namespace, name }: Names, container: ObservedContainer): LogOwner | undefined {
  if (container.logPath === '') return undefined;
  return {
    namespace,
    podName: name,
    containerName: container.name,
    containerId: container.id,
    logPath: container.logPath,
  };
}

export function isRunning({ state }: ObservedContainer): boolean {
  return state === 'running';
}

/** Of everything that the runtime has of us. */
export function logOwners(
  view: RuntimeView,
  wanted: (container: ObservedContainer) => boolean = () => true,
): LogOwner[] {
  return [...view.uids()].flatMap((uid) => {
    const labels = view.labels(uid);
    if (labels === undefined) return [];
    return view.observed(uid).containers.flatMap((one) => (wanted(one) && logOwner(labels, one)) || []);
  });
}
