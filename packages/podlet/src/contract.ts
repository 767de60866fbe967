/**
 * The interfaces between the parts of the pod agent. Arrows: sources → merge → sync loop → worker → lifecycle → CRI.
 * Sources and the merge know nothing of runtimes; lifecycle decisions are pure functions; only workers act.
 */
import type { Clock } from '@podwire/platform';
import type { SpanContext } from '@podwire/tracing';
import type { CgroupLocation } from './cgroups/names.js';
import type {
  ConfigMap,
  ContainerStatus,
  Pod,
  PodStatus,
  SourceName,
  SourceProblem,
} from '@podwire/pod-spec';

export type { SourceName, SourceProblem } from '@podwire/pod-spec';

/** All pods that a source wants now. */
export interface Snapshot {
  readonly pods: readonly Pod[];
  /** ConfigMaps that stand beside the pods. */
  readonly configMaps?: readonly ConfigMap[];
  /**
   * True while a part is not known yet (a server that has never answered, a single file that never could be read): what is
   * missing is not gone, and the source is not ready.
   */
  readonly incomplete?: boolean;
  /** Of an incomplete one, uids that are gone all the same: no part of the source wants them. */
  readonly gone?: readonly string[];
  readonly problems: readonly SourceProblem[];
  /** When its cause happened (milliseconds since the epoch), as far as known: the trace of new pods begins there. */
  readonly causedAt?: number;
}

/** Emits full snapshots until the signal; `incomplete` ones, with problems, as long as it does not know them all. */
export interface PodSource {
  readonly name: SourceName;
  run(emit: (snapshot: Snapshot) => void, signal: AbortSignal): Promise<void>;
}

export type UpdateKind = 'ADD' | 'UPDATE' | 'DELETE' | 'REMOVE' | 'RECONCILE' | 'RESTORE';

export interface PodUpdate {
  readonly kind: UpdateKind;
  readonly source: SourceName;
  readonly pods: readonly Pod[];
  /** The source has said once what all of its pods are; false for RESTORE and while its snapshots are incomplete. */
  readonly sourceReady: boolean;
}

/** The merge: state and nothing else; the same input gives the same output. */
export interface Merger {
  /** @returns what changed, in the order in which it has to be acted on. An empty ADD tells that a source is ready. */
  merge(source: SourceName, snapshot: Snapshot): readonly PodUpdate[];
  /** Pods of checkpoints, once, before the first snapshot of the API: a RESTORE, which makes no source ready. */
  restore(pods: readonly Pod[]): readonly PodUpdate[];
  /** Pods of all sources as they are wanted now. */
  pods(): readonly Pod[];
  /** ConfigMaps of all sources. */
  configMaps(): readonly ConfigMap[];
  /** The problems that the latest snapshots reported, and pods that were left out since another one has their name or uid. */
  problems(): readonly SourceProblem[];
}

export type { Clock };

/** Facts of the node that pods are told of. */
export interface PodletNode {
  readonly name: string;
  readonly addresses: readonly string[];
  /** Content of the node's own files, read when they are needed. */
  readonly resolvConf: () => Promise<string>;
  readonly hosts: () => Promise<string>;
  readonly clusterDns: readonly string[];
  readonly clusterDomain: string;
  /** Of the machine; the out-of-memory score of a container is its share of it. */
  readonly memoryBytes?: bigint;
  /** One score for all containers (0 where CAP_SYS_RESOURCE is missing); by quality of service when absent. */
  readonly oomScoreAdjustment?: number;
  /** Labels that `nodeSelector` and affinity are held against. */
  readonly labels?: Readonly<Record<string, string>>;
  /** True if AppArmor can confine processes; unknown when absent. */
  readonly appArmor?: boolean;
  /** Processors, in thousandths, that pods may ask for together; not counted when absent. */
  readonly milliCpu?: bigint;
  /** Sysctls beside Kubernetes' safe ones that pods may set; a `*` at the end stands for all that begin so. */
  readonly allowedUnsafeSysctls?: readonly string[];
  /** The place of the pods' control groups; the runtime's own choice when absent. */
  readonly cgroups?: CgroupLocation;
}

/** The directories of pods. All of it below one directory, and each pod's part goes with the pod. */
export interface PodletDirectories {
  /** `<root>/pods/<uid>`: volumes, hosts file, termination logs. */
  readonly root: string;
  /** The root that earlier versions had for `pods/<uid>`. A pod that has its directory there keeps it to its end. */
  readonly earlierRoot?: string;
  /** `<logs>/<namespace>_<name>_<uid>/<container>/<restart>.log`; `/var/log/pods`. */
  readonly logs: string;
  /** The directory of links to logs for log collectors, `/var/log/containers`; none when absent. */
  readonly logLinks?: string;
}

export type PodEventType = 'Normal' | 'Warning';

/** An event of a pod, as in Kubernetes. */
export interface PodEvent {
  readonly type: PodEventType;
  /** `FailedCreatePodSandBox`, `Started`, `BackOff` … the API's words. */
  readonly reason: string;
  readonly message: string;
  /** Milliseconds since the epoch of the first and of the latest. */
  readonly at: number;
  readonly lastAt: number;
  readonly count: number;
}

/** An event with its pod, which may be gone. */
export interface PodEventRecord extends PodEvent {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** A pod with what its manifest asks for. */
export interface PodDescription {
  readonly pod: PodView;
  /** As the pod agent has read it, with all defaults. */
  readonly spec: Pod['spec'];
  readonly labels: Readonly<Record<string, string>>;
  readonly node: string;
  /** As it names itself, with its version. */
  readonly runtime: string;
}

/** Everything the pod agent says of one pod: over its socket, and in `podwire up`. */
export interface PodView {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly source: SourceName;
  /** The file or URL that its manifest came from; the annotation `podwire.io/origin`. */
  readonly origin?: string;
  /** The stage of the worker: `waiting`, `starting`, `running`, `terminating`, `terminated`. */
  readonly stage: PodStage;
  readonly status: PodStatus;
  readonly containers: readonly (ContainerStatus & { readonly logPath?: string })[];
  readonly sandboxId?: string;
  readonly events: readonly PodEvent[];
  /** Why the API server does not take its status. */
  readonly statusRefusal?: string;
  readonly trace?: SpanContext;
}

export type PodStage = 'waiting' | 'starting' | 'running' | 'terminating' | 'terminated';
