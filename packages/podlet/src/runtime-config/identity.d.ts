/**
 * Labels and annotations by which a pod agent that was started again knows whose containers these are. Keys are the kubelet's,
 * so that other tools (crictl, log collectors) see a pod as they are used to.
 */
import type { Container, ContainerPort, Pod, ProbeAction } from '@podwire/pod-spec';
export declare const podLabels: {
    readonly name: "io.kubernetes.pod.name";
    readonly namespace: "io.kubernetes.pod.namespace";
    readonly uid: "io.kubernetes.pod.uid";
};
export declare const containerNameLabel = "io.kubernetes.container.name";
export declare const containerAnnotations: {
    readonly hash: "io.kubernetes.container.hash";
    readonly restartCount: "io.kubernetes.container.restartCount";
    readonly terminationMessagePath: "io.kubernetes.container.terminationMessagePath";
    readonly terminationMessagePolicy: "io.kubernetes.container.terminationMessagePolicy";
    readonly ports: "io.kubernetes.container.ports";
    readonly preStop: "io.kubernetes.container.preStopHandler";
    readonly gracePeriod: "io.kubernetes.pod.terminationGracePeriod";
};
type Texts = Readonly<Record<string, string>>;
export declare function sandboxLabels({ metadata }: Pod): Record<string, string>;
export declare function containerLabels(pod: Pod, container: Container): Record<string, string>;
/** Everything that is needed to end a container properly when its pod is known no more. */
export declare function buildContainerAnnotations(pod: Pod, container: Container, attempt: number): Record<string, string>;
export interface PodIdentity {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
}
/** @returns undefined when it is not of a pod agent */
export declare function readPodIdentity(labels: Texts): PodIdentity | undefined;
/** What a container says of itself. */
export interface ContainerIdentity {
    readonly pod: PodIdentity;
    readonly name: string;
    readonly hash: string;
    readonly restartCount: number;
    readonly terminationMessagePath?: string;
    readonly terminationMessagePolicy?: Container['terminationMessagePolicy'];
    readonly gracePeriodSeconds?: number;
    readonly ports: readonly ContainerPort[];
    readonly preStop?: ProbeAction;
}
/** The inverse of {@link containerLabels} and {@link buildContainerAnnotations}; what cannot be read is absent. */
export declare function readContainerIdentity(labels: Texts, annotations: Texts): ContainerIdentity | undefined;
export {};
//# sourceMappingURL=identity.d.ts.map