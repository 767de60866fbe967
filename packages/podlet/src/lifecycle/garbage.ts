import { isAlive, type ObservedContainer, type ObservedPod, type ObservedSandbox } from './observed.js';

export interface Garbage {
  readonly containers: readonly ObservedContainer[];
  /** Removable once `containers` are gone. */
  readonly sandboxes: readonly ObservedSandbox[];
}

/**
 * The parts of a pod that can be removed. Of a pod that is wanted: all that has ended but the latest ended instance of each
 * container (its logs, and `lastState`), and sandboxes that are not ready, hold nothing and are not the newest.
 * Of a pod that is gone: everything that is not alive.
 */
export function collectable(observed: ObservedPod, wanted: boolean): Garbage {
  const containers = observed.containers.filter(
    (container) => !isAlive(container) && !(wanted && isWorthKeeping(observed, container)),
  );
  const left = observed.containers.filter((container) => !containers.includes(container));
  const sandboxes = observed.sandboxes.filter(
    (sandbox, index) =>
      !sandbox.ready &&
      !(wanted && index === 0) &&
      !left.some((container) => container.sandboxId === sandbox.id),
  );
  return { containers, sandboxes };
}

/** Created but not started: it is about to be started, or the worker removes it itself. */
function isWorthKeeping(observed: ObservedPod, container: ObservedContainer): boolean {
  if (container.state === 'created') return true;
  const latest = observed.containers.find(
    (other) => other.name === container.name && other.state === 'exited',
  );
  return latest === container;
}
