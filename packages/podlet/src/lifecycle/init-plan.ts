import type { Container, Pod } from '@podwire/pod-spec';
import {
  type ContainerFacts,
  hasStarted,
  kill,
  type KillAction,
  planContainer,
  roleOf,
  type StartAction,
  startOf,
} from './container-plan.js';
import { hasExited, newestInSandbox, newestInstance, type ObservedPod } from './observed.js';

export interface InitPlan {
  /** Normal containers may start. */
  readonly done: boolean;
  /** An init container has failed for good. */
  readonly failed: boolean;
  readonly kill: readonly KillAction[];
  readonly start: readonly StartAction[];
}

interface Step {
  readonly go: 'on' | 'wait' | 'fail';
  readonly kill?: KillAction;
  readonly start?: StartAction;
}

/**
 * Init containers run one after the other; sidecars among them start in their place and stay. What an earlier sandbox
 * has seen does not count: a new sandbox is initialised anew. Once a normal container exists, only sidecars are looked after.
 */
export function planInit(
  pod: Pod,
  observed: ObservedPod,
  sandboxId: string,
  facts: ContainerFacts,
): InitPlan {
  const initialised = isInitialised(pod, observed, sandboxId);
  const steps: Step[] = [];
  for (const [index, container] of pod.spec.initContainers.entries()) {
    const step = planStep(pod, observed, sandboxId, facts, { container, index, initialised });
    steps.push(step);
    if (step.go === 'wait' && !initialised) return collect(steps, false, false);
    if (step.go === 'fail') return collect(steps, false, true);
  }
  return collect(steps, true, false);
}

function collect(steps: readonly Step[], done: boolean, failed: boolean): InitPlan {
  return {
    done,
    failed,
    kill: steps.flatMap((step) => step.kill ?? []),
    start: steps.flatMap((step) => step.start ?? []),
  };
}

/** Some normal container was created in this sandbox, so everything before it is over. */
export function isInitialised(pod: Pod, observed: ObservedPod, sandboxId: string): boolean {
  return pod.spec.containers.some(
    (container) => newestInSandbox(observed, container.name, sandboxId) !== undefined,
  );
}

interface Place {
  readonly container: Container;
  readonly index: number;
  readonly initialised: boolean;
}

function planStep(
  pod: Pod,
  observed: ObservedPod,
  sandboxId: string,
  facts: ContainerFacts,
  place: Place,
): Step {
  if (roleOf(place.container, true) === 'sidecar') {
    return planSidecar(observed, sandboxId, facts, place.container);
  }
  if (place.initialised || hasLaterInstance(pod, observed, sandboxId, place.index)) return { go: 'on' };
  return planOnce(pod, observed, sandboxId, place.container);
}

/** Something that comes after this init container was created in the sandbox, so it had succeeded. */
export function isPassed(pod: Pod, observed: ObservedPod, sandboxId: string, name: string): boolean {
  const index = pod.spec.initContainers.findIndex((container) => container.name === name);
  return isInitialised(pod, observed, sandboxId) || hasLaterInstance(pod, observed, sandboxId, index);
}

/** A later one was begun, so this one had succeeded; its remains may have been cleaned away. */
function hasLaterInstance(pod: Pod, observed: ObservedPod, sandboxId: string, index: number): boolean {
  const later = pod.spec.initContainers.slice(index + 1);
  return later.some((container) => newestInSandbox(observed, container.name, sandboxId) !== undefined);
}

function planSidecar(
  observed: ObservedPod,
  sandboxId: string,
  facts: ContainerFacts,
  container: Container,
): Step {
  const newest = newestInstance(observed, container.name);
  const plan = planContainer(container, newest, 'Always', sandboxId, facts);
  if (plan.next === 'keep') return { go: hasStarted(container, newest, facts) ? 'on' : 'wait' };
  const start = startOf(container, 'sidecar', newest);
  return plan.kill === undefined ? { go: 'wait', start } : { go: 'wait', start, kill: plan.kill };
}

function planOnce(pod: Pod, observed: ObservedPod, sandboxId: string, container: Container): Step {
  const instance = newestInSandbox(observed, container.name, sandboxId);
  const start = startOf(container, 'init', newestInstance(observed, container.name));
  const never = pod.spec.restartPolicy === 'Never';
  if (hasExited(instance, true)) return { go: 'on' };
  if (instance?.state === 'running') return { go: 'wait' };
  if (instance?.state === 'unknown') {
    const stop = kill(instance, 'Unknown', 'the runtime does not know whether it runs');
    return never ? { go: 'wait', kill: stop } : { go: 'wait', kill: stop, start };
  }
  return never && instance?.state === 'exited' ? { go: 'fail' } : { go: 'wait', start };
}
