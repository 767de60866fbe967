import type { ContainerStatus, Pod, PodCondition, PodPhase } from '@podwire/pod-spec';
import { roleOf } from './container-plan.js';
import { formatTime, type Waiting } from './container-status.js';
import type { ObservedPod } from './observed.js';
import { isTerminal } from './phase.js';

export interface ConditionInput {
  readonly pod: Pod;
  readonly observed: ObservedPod;
  readonly phase: PodPhase;
  readonly init: readonly ContainerStatus[];
  readonly normal: readonly ContainerStatus[];
  /** Why there is no usable sandbox, as far as known. */
  readonly sandboxProblem?: Waiting;
  readonly previous: readonly PodCondition[];
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Those that the pod agent sets, in the API's order. All others belong to other controllers. */
export const ownConditions = [
  'PodReadyToStartContainers',
  'Initialized',
  'Ready',
  'ContainersReady',
  'PodScheduled',
] as const;

export function isOwnCondition(type: string): type is (typeof ownConditions)[number] {
  return (ownConditions as readonly string[]).includes(type);
}

type ConditionValue = Omit<PodCondition, 'type' | 'lastTransitionTime'>;

const fulfilled: ConditionValue = { status: 'True' };

/** `lastTransitionTime` moves only when the status does. */
export function computeConditions(input: ConditionInput): PodCondition[] {
  const containersReady = evaluateContainers(input);
  const conditions: Record<(typeof ownConditions)[number], ConditionValue> = {
    PodReadyToStartContainers: evaluateSandboxCondition(input),
    Initialized: evaluateInitialized(input),
    Ready: containersReady.status === 'True' ? evaluateGates(input.pod) : containersReady,
    ContainersReady: containersReady,
    PodScheduled: fulfilled,
  };
  const own = ownConditions.map((type) => stamp(type, conditions[type], input));
  // Conditions of others (controllers of readiness gates, the scheduler) are kept.
  return [...own, ...input.pod.status.conditions.filter(({ type }) => !isOwnCondition(type))];
}

/** `spec.readinessGates`: conditions that another controller sets and that must be true as well. */
function evaluateGates(pod: Pod): ConditionValue {
  const { readinessGates = [] } = pod.spec;
  const closed = readinessGates.flatMap(({ conditionType }) => {
    const found = pod.status.conditions.find(({ type }) => type === conditionType);
    return found?.status === 'True' ? [] : [`${conditionType} is ${found?.status ?? 'not set'}`];
  });
  return closed.length === 0
    ? fulfilled
    : not('ReadinessGatesNotReady', `readiness gates: ${closed.join(', ')}`);
}

function stamp(type: string, value: ConditionValue, { previous, now }: ConditionInput): PodCondition {
  const before = previous.find((condition) => condition.type === type);
  const unchanged = before?.status === value.status ? before.lastTransitionTime : undefined;
  return { type, ...value, lastTransitionTime: unchanged ?? formatTime(now) };
}

/** KEP-3085, with the reason and the message that it lacks (kubernetes #135299). */
function evaluateSandboxCondition(input: ConditionInput): ConditionValue {
  const { pod, observed, phase, sandboxProblem } = input;
  const newest = observed.sandboxes[0];
  const connected = pod.spec.hostNetwork || (newest?.addresses.length ?? 0) > 0;
  if (newest?.ready === true && connected) return fulfilled;
  if (isTerminal(phase))
    return hadSandbox(input)
      ? not('PodCompleted', 'the sandbox was stopped')
      : not('SandboxNotCreated', 'the pod ended before it had a sandbox');
  if (sandboxProblem !== undefined) return not(sandboxProblem.reason, sandboxProblem.message ?? '');
  if (newest === undefined) return not('SandboxNotCreated', 'the sandbox is not created yet');
  if (!newest.ready) return not('SandboxNotReady', `sandbox ${newest.id} is not ready (any more)`);
  return not('NetworkNotConfigured', `sandbox ${newest.id} has no address`);
}

/** A pod that was not admitted never had one; that of a finished pod may have been removed since. */
function hadSandbox({ observed, init, normal, previous }: ConditionInput): boolean {
  return (
    observed.sandboxes.length > 0 ||
    [...init, ...normal].some(({ containerID }) => containerID !== '') ||
    previous.some(
      ({ type, status, reason }) =>
        type === 'PodReadyToStartContainers' && (status === 'True' || reason === 'PodCompleted'),
    )
  );
}

function evaluateInitialized({ pod, phase, init, normal }: ConditionInput): ConditionValue {
  if (phase === 'Succeeded') return { status: 'True', reason: 'PodCompleted' };
  const begun = normal.some((status) => status.containerID !== '');
  const incomplete = pod.spec.initContainers.flatMap((container, index) => {
    const status = init[index];
    const over = roleOf(container, true) === 'sidecar' ? status?.started : status?.ready;
    return over === true || begun ? [] : [container.name];
  });
  if (incomplete.length === 0) return fulfilled;
  return not('ContainersNotInitialized', `containers with incomplete status: [${incomplete.join(' ')}]`);
}

function evaluateContainers({ pod, phase, init, normal }: ConditionInput): ConditionValue {
  if (phase === 'Succeeded') return not('PodCompleted', '');
  if (phase === 'Failed') return not('PodFailed', '');
  const sidecars = init.filter((_, index) => pod.spec.initContainers[index]?.restartPolicy === 'Always');
  const unready = [...sidecars, ...normal].filter((status) => !status.ready).map(({ name }) => name);
  if (unready.length === 0) return fulfilled;
  return not('ContainersNotReady', `containers with unready status: [${unready.join(' ')}]`);
}

function not(reason: string, message: string): ConditionValue {
  return message === '' ? { status: 'False', reason } : { status: 'False', reason, message };
}
