/**
 * Whether a node takes a pod: the kubelet's admission (pkg/kubelet/lifecycle, predicates of the scheduler), with its reasons and
 * its words, and in its order. Pure: the same pods give the same answer.
 */
import type { Pod } from '@podwire/pod-spec';
import { type Affine } from './node-affinity.js';
import { type Amounts } from './requests.js';
export interface AdmissionNode extends Affine {
    /** What is not known is not counted. */
    readonly capacity: Partial<Amounts>;
    readonly allowedUnsafeSysctls: readonly string[];
}
/** As the status and the event have it. */
export interface Refusal {
    readonly reason: string;
    readonly message: string;
}
/** @param others the pods that the node has taken, and that have not ended */
export declare function evaluateAdmission(pod: Pod, node: AdmissionNode, others: readonly Pod[]): Refusal | undefined;
//# sourceMappingURL=evaluate-admission.d.ts.map