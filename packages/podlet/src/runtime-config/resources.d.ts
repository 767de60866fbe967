import type { Container, Pod } from '@podwire/pod-spec';
/** What a container's processes may have of the machine, in the kernel's units (cgroups v1, Documentation/scheduler). */
export interface ContainerLimits {
    /** 2 … 262144; 1024 is a processor's worth. */
    readonly cpuShares: bigint;
    /** Microseconds in each period; 0 is without limit. */
    readonly cpuQuota: bigint;
    readonly cpuPeriod: bigint;
    /** Bytes; 0 is without limit. */
    readonly memoryBytes: bigint;
    readonly oomScoreAdjustment: bigint;
}
export interface LimitOptions {
    /** Fixed for all: 0 where CAP_SYS_RESOURCE is missing and no score can be lowered. By quality of service when absent. */
    readonly oomScoreAdjustment?: number;
    /** Of the machine; without it a container that asks for less than it may have gets the middle of its range. */
    readonly memoryBytes?: bigint;
}
export declare function containerLimits(pod: Pod, container: Container, options: LimitOptions): ContainerLimits;
export type QualityOfService = 'Guaranteed' | 'Burstable' | 'BestEffort';
/** Kubernetes' classes: all limits given and equal to the requests, some given, none given. */
export declare function qualityOfService({ spec }: Pick<Pod, 'spec'>): QualityOfService;
//# sourceMappingURL=resources.d.ts.map