/**
 * Admission of a pod by a node: the kubelet's admission (pkg/kubelet/lifecycle, predicates of the scheduler), with its
 * reasons and its words, and in its order. Pure: the same pods give the same answer.
 */
import type { Pod } from '@podwire/pod-spec';
import { findTaken, hostPortsOf } from './host-ports.js';
import { type Affine, fitsNode } from './node-affinity.js';
import { isStatic, rankOf } from './rank.js';
import { add, type Amounts, nothing, podRequests } from './requests.js';
import { findForbiddenSysctl } from './sysctls.js';

export interface AdmissionNode extends Affine {
  /** Unknown capacity is not counted. */
  readonly capacity: Partial<Amounts>;
  readonly allowedUnsafeSysctls: readonly string[];
}

/** As the status and the event have it. */
export interface Refusal {
  readonly reason: string;
  readonly message: string;
}

/** @param others the pods that the node has taken, and that have not ended */
export function evaluateAdmission(
  pod: Pod,
  node: AdmissionNode,
  others: readonly Pod[],
): Refusal | undefined {
  return (
    checkSysctls(pod, node) ??
    checkResources(pod, node, others) ??
    checkAffinity(pod, node) ??
    checkPorts(pod, others)
  );
}

function checkSysctls(pod: Pod, { allowedUnsafeSysctls }: AdmissionNode): Refusal | undefined {
  const message = findForbiddenSysctl(pod, allowedUnsafeSysctls);
  return message === undefined ? undefined : { reason: 'SysctlForbidden', message };
}

function checkResources(pod: Pod, { capacity }: AdmissionNode, others: readonly Pod[]): Refusal | undefined {
  const requested = podRequests(pod);
  const rank = rankOf(pod);
  const used = others
    .filter((other) => rankOf(other) >= rank)
    .map(podRequests)
    .reduce(add, nothing);
  for (const name of ['cpu', 'memory'] as const) {
    const most = capacity[name];
    if (most === undefined || requested[name] === 0n || requested[name] + used[name] <= most) continue;
    const numbers = `requested: ${requested[name]}, used: ${used[name]}, capacity: ${most}`;
    return { reason: `OutOf${name}`, message: `Node didn't have enough resource: ${name}, ${numbers}` };
  }
  return undefined;
}

/** Of a pod of the API a scheduler has seen to it, by labels that the Node object has and this agent does not know. */
function checkAffinity(pod: Pod, node: AdmissionNode): Refusal | undefined {
  if (!isStatic(pod) || fitsNode(pod, node)) return undefined;
  const message = `Predicate NodeAffinity failed: nodeSelector or affinity does not match the labels of node ${node.name}`;
  return { reason: 'NodeAffinity', message };
}

function checkPorts(pod: Pod, others: readonly Pod[]): Refusal | undefined {
  const taken = findTaken(hostPortsOf(pod), others.flatMap(hostPortsOf));
  if (taken === undefined) return undefined;
  const message = `Predicate NodePorts failed: ${taken.protocol} port ${taken.port} is taken by pod ${taken.owner}`;
  return { reason: 'NodePorts', message };
}
