import { compact } from '@podwire/platform';
import type { ContainerStatus, Pod, PodPhase, PodStatus } from '@podwire/pod-spec';
import { computeConditions } from './conditions.js';
import {
  containerStatuses,
  formatTime,
  initContainerStatuses,
  type StatusFacts,
  type Waiting,
} from './container-status.js';
import { qualityOfService } from '../runtime-config/resources.js';
import type { ObservedPod } from './observed.js';
import { limitTerminationMessages } from './termination-messages.js';
import { computePhase, isTerminal } from './phase.js';

export interface PodFacts extends StatusFacts {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Of the node, first one first. */
  readonly nodeAddresses: readonly string[];
  /** Why there is no usable sandbox. */
  readonly sandboxProblem?: Waiting;
  /** It must not begin. */
  readonly blocked?: Waiting;
  /** It was taken down and nothing of it runs: it is not what its restart policy says any more. */
  readonly ended?: boolean;
}

/** Computes the status of a pod in the API. A phase that is terminal stays (specification §1.6). */
export function computeStatus(pod: Pod, observed: ObservedPod, facts: PodFacts): PodStatus {
  const init = initContainerStatuses(pod, observed, facts);
  const normal = containerStatuses(pod, observed, facts);
  const phase = settlePhase(facts, computePhase(pod, init, normal), normal);
  const addresses = podAddresses(pod, observed, facts);
  const containers = init.length + normal.length;
  return {
    phase,
    conditions: computeConditions({
      pod,
      observed,
      phase,
      init,
      normal,
      ...compact({ sandboxProblem: facts.sandboxProblem }),
      previous: facts.previous?.conditions ?? [],
      now: facts.now,
    }),
    ...explainPhase(facts),
    ...compact({ hostIP: facts.nodeAddresses[0], podIP: addresses[0] }),
    podIPs: addresses.map((ip) => ({ ip })),
    qosClass: qualityOfService(pod),
    startTime: formatTime(firstSeen(observed, facts)),
    initContainerStatuses: limitTerminationMessages(init, containers),
    containerStatuses: limitTerminationMessages(normal, containers),
  };
}

function settlePhase(facts: PodFacts, computed: PodPhase, normal: readonly ContainerStatus[]): PodPhase {
  const before = facts.previous?.phase;
  if (before !== undefined && isTerminal(before)) return before;
  if (facts.failure !== undefined) return 'Failed';
  if (facts.ended !== true || isTerminal(computed)) return computed;
  return normal.every(({ state }) => state.terminated?.exitCode === 0) ? 'Succeeded' : 'Failed';
}

/** Why it has failed stays; what keeps it now goes when it does. */
function explainPhase({ failure, blocked, previous }: PodFacts): Pick<PodStatus, 'reason' | 'message'> {
  const before = previous !== undefined && isTerminal(previous.phase) ? previous : undefined;
  const { reason, message } = failure ?? before ?? blocked ?? {};
  return compact({ reason, message });
}

/**
 * Of the newest sandbox that is ready; while none is, what was known last stays, so that a pod which ends
 * does not lose its address in the API before its connections are over.
 */
function podAddresses(pod: Pod, observed: ObservedPod, facts: PodFacts): readonly string[] {
  if (pod.spec.hostNetwork) return observed.sandboxes.length === 0 ? [] : facts.nodeAddresses;
  const ready = observed.sandboxes.find((sandbox) => sandbox.ready);
  return ready?.addresses ?? (facts.previous?.podIPs ?? []).map(({ ip }) => ip);
}

/**
 * An adopted pod has begun when its first sandbox was created, also where it was shown before that was seen: a pod agent
 * that has just started knows the manifest first.
 */
function firstSeen(observed: ObservedPod, { previous, now }: Pick<PodFacts, 'previous' | 'now'>): number {
  const shown = previous?.startTime === undefined ? now : Date.parse(previous.startTime);
  const created = observed.sandboxes.map(({ createdAt }) => createdAt).filter((createdAt) => createdAt > 0);
  return Math.min(shown, ...created);
}
