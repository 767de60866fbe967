import type { ContainerConfig, PodSandboxConfig } from '@podwire/cri';
import type { SourceName } from '../contract.js';
import type { ContainerRole } from '../lifecycle/container-plan.js';
import { type ContainerPort, type Pod, type ProbeAction } from '@podwire/pod-spec';
/** What is written on sandboxes and containers beside the kubelet's own words, so that a later podlet knows them. */
/** Whose it is: several podlets, or a kubelet, may share one runtime. */
export declare const nodeLabel = "podwire.io/node";
export declare const uidLabel = "io.kubernetes.pod.uid";
type Texts = Readonly<Record<string, string>>;
/** Whose a sandbox or container is. */
export interface PodLabels {
    readonly uid: string;
    readonly namespace: string;
    readonly name: string;
    readonly source?: SourceName;
    readonly graceSeconds?: number;
}
/** How a container ends: all that is needed of its specification when that is gone. */
export interface ContainerEnd {
    readonly role: ContainerRole;
    readonly preStop?: ProbeAction;
    readonly ports: readonly ContainerPort[];
}
export declare function labelSandbox(config: PodSandboxConfig, pod: Pod, node: string): PodSandboxConfig;
export declare function labelContainer(config: ContainerConfig, pod: Pod, node: string, role: ContainerRole): ContainerConfig;
/** @returns undefined when it belongs to no pod */
export declare function readPodLabels(labels: Texts, annotations: Texts): PodLabels | undefined;
export declare function readSource(text: string | undefined): SourceName | undefined;
/** @returns undefined for what needs nothing special */
export declare function readEnd(labels: Texts, annotations: Texts): ContainerEnd | undefined;
export {};
//# sourceMappingURL=labels.d.ts.map