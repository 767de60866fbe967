import type { Pod } from '@podwire/pod-spec';
export interface DownwardFacts {
    readonly pod: Pod;
    /** Of the pod; the first is the primary one. */
    readonly addresses: readonly string[];
    readonly nodeName: string;
    readonly nodeAddresses: readonly string[];
}
/**
 * The value of a `fieldRef` in a container's environment (Kubernetes API, EnvVarSource). A label or annotation that the
 * pod does not have is empty.
 * @returns undefined when there is no such field
 */
export declare function readField(fieldPath: string, facts: DownwardFacts): string | undefined;
//# sourceMappingURL=downward.d.ts.map