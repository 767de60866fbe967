/**
 * Interfaces of the parts that a worker uses beside the life cycle: `runtime-config` (CRI configuration from a pod), `files`
 * (volumes, hosts), `probes`, `hooks`, `images`.
 */
import type { ContainerConfig, CriRuntime, PodSandboxConfig } from '@podwire/cri';
import type { Clock, PodletDirectories, PodletNode } from './contract.js';
import type { Container, Pod, Probe } from '@podwire/pod-spec';

/** Directories and files of a pod are there; what each container mounts. */
export interface PreparedPod {
  readonly mounts: ReadonlyMap<string, readonly PreparedMount[]>;
  /** Values for `configMapKeyRef` and `envFrom`. */
  readonly configMaps: ReadonlyMap<string, Readonly<Record<string, string>>>;
}

export interface PreparedMount {
  readonly hostPath: string;
  readonly containerPath: string;
  readonly readOnly: boolean;
  readonly mountPropagation?: string;
  readonly recursiveReadOnly?: string;
}

export interface PodPreparation {
  /** Idempotent. @throws PodwireError VOLUME_UNAVAILABLE naming pod, volume and why */
  prepare(pod: Pod, signal: AbortSignal): Promise<PreparedPod>;
  /** Writes `/etc/hosts` for a pod whose addresses are known. @returns its path */
  writeHosts(pod: Pod, addresses: readonly string[]): Promise<string>;
  /** The empty file that an instance of a container may write its termination message to. @returns its path */
  createTerminationLog(pod: Pod, containerName: string, attempt: number): Promise<string>;
  /** The text that the instance has written, 4096 bytes at most; empty when there is nothing. */
  readTerminationLog(uid: string, containerName: string, attempt: number): Promise<string>;
  /** Unmounts and deletes everything of a pod that is gone. Collects errors. */
  discard(uid: string): Promise<void>;
  /** Uids that have something on disk. */
  list(): Promise<readonly string[]>;
}

/** Absent `uid` and `username`: root. */
export interface ImageUser {
  readonly uid?: number;
  readonly username?: string;
}

export interface ContainerConfigRequest {
  readonly pod: Pod;
  readonly container: Container;
  readonly attempt: number;
  readonly prepared: PreparedPod;
  readonly addresses: readonly string[];
  readonly hostsFile?: string;
  /** From createTerminationLog; without it nothing is mounted at terminationMessagePath. */
  readonly terminationLog?: string;
  /** As the runtime names it, from ensureImage. */
  readonly imageRef: string;
  /** Whom the image runs as, from `readImageUser`; runAsNonRoot needs it where the pod has no runAsUser. */
  readonly imageUser?: ImageUser;
  /** True if the runtime can make mounts read-only with all that is mounted below them; not, when absent. */
  readonly recursiveReadOnly?: boolean;
  readonly node: PodletNode;
  readonly directories: PodletDirectories;
}

export type BuildSandboxConfig = (
  pod: Pod,
  attempt: number,
  node: Pick<PodletNode, 'name' | 'clusterDns' | 'clusterDomain' | 'cgroups'> & {
    readonly resolvConfText: string;
  },
  directories: PodletDirectories,
) => PodSandboxConfig;

/** @throws PodwireError CONTAINER_CONFIG_INVALID: a configMap that is missing, runAsNonRoot with user 0 … */
export type BuildContainerConfig = (request: ContainerConfigRequest) => ContainerConfig;

/** @returns the runtime's reference. @throws PodwireError IMAGE_UNAVAILABLE (Never and absent; pull failed), with reason for the status */
export type EnsureImage = (
  runtime: Pick<CriRuntime, 'imageStatus' | 'pullImage'>,
  pod: Pod,
  container: Container,
  sandbox: PodSandboxConfig,
  signal: AbortSignal,
) => Promise<string>;

export type ProbeKind = 'liveness' | 'readiness' | 'startup';

export interface ProbeTarget {
  readonly pod: Pod;
  readonly container: Container;
  readonly kind: ProbeKind;
  readonly probe: Probe;
  readonly containerId: string;
  /** Milliseconds since the epoch; initial delays count from here. When it is watched first, where absent or 0. */
  readonly startedAt?: number;
  /** Its startup probe has succeeded, perhaps before this prober began: the others need not wait for it. */
  readonly hasStarted?: boolean;
  readonly address: string;
}

/** Runs probes for the containers that are running and tells of changes. */
export interface Prober {
  /** Begins; one that runs for the same pod, container, kind and id goes on. */
  watch(target: ProbeTarget): void;
  forget(uid: string, containerName?: string): void;
  /** Latest probeResult; undefined before the first. */
  probeResult(uid: string, containerName: string, kind: ProbeKind): boolean | undefined;
  close(): Promise<void>;
}

export interface ProberOptions {
  readonly runtime: Pick<CriRuntime, 'execSync'>;
  readonly clock: Clock;
  readonly random: () => number;
  /** A result has changed: sync the pod. */
  readonly onChange: (
    uid: string,
    containerName: string,
    kind: ProbeKind,
    success: boolean,
    why: string,
  ) => void;
}
