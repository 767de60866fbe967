import { findTaken, hostPortsOf } from './host-ports.js';
import { fitsNode } from './node-affinity.js';
import { isStatic, rankOf } from './rank.js';
import { add, nothing, podRequests } from './requests.js';
import { findForbiddenSysctl } from './sysctls.js';
/** @param others the pods that the node has taken, and that have not ended */
export function evaluateAdmission(pod, node, others) {
    return (judgeSysctls(pod, node) ??
        judgeResources(pod, node, others) ??
        judgeAffinity(pod, node) ??
        judgePorts(pod, others));
}
function judgeSysctls(pod, { allowedUnsafeSysctls }) {
    const message = findForbiddenSysctl(pod, allowedUnsafeSysctls);
    return message === undefined ? undefined : { reason: 'SysctlForbidden', message };
}
function judgeResources(pod, { capacity }, others) {
    const requested = podRequests(pod);
    const rank = rankOf(pod);
    const used = others
        .filter((other) => rankOf(other) >= rank)
        .map(podRequests)
        .reduce(add, nothing);
    for (const name of ['cpu', 'memory']) {
        const most = capacity[name];
        if (most === undefined || requested[name] === 0n || requested[name] + used[name] <= most)
            continue;
        const numbers = `requested: ${requested[name]}, used: ${used[name]}, capacity: ${most}`;
        return { reason: `OutOf${name}`, message: `Node didn't have enough resource: ${name}, ${numbers}` };
    }
    return undefined;
}
/** Of a pod of the API a scheduler has seen to it, by labels that the Node object has and this agent does not know. */
function judgeAffinity(pod, node) {
    if (!isStatic(pod) || fitsNode(pod, node))
        return undefined;
    const message = `Predicate NodeAffinity failed: nodeSelector or affinity does not match the labels of node ${node.name}`;
    return { reason: 'NodeAffinity', message };
}
function judgePorts(pod, others) {
    const taken = findTaken(hostPortsOf(pod), others.flatMap(hostPortsOf));
    if (taken === undefined)
        return undefined;
    const message = `Predicate NodePorts failed: ${taken.protocol} port ${taken.port} is taken by pod ${taken.owner}`;
    return { reason: 'NodePorts', message };
}
//# sourceMappingURL=evaluate-admission.js.map