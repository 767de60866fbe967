import type { Tracer } from '@podwire/tracing';
import type { PodNetwork } from '@podwire/pod-network';
import type { CheckpointDirectory } from './checkpoint/checkpoint.js';
import type { CreationTimes } from './creation-times.js';
import type { Docker } from './docker/index.js';
import type { ImagePuller } from './images/pull.js';
import type { Owners } from './owners.js';
import type { Clock, FaultPoints, KeyedMutex, Log } from '@podwire/platform';

export interface Settings {
  readonly sandboxImage: string;
  /** The directory of pinned network namespaces. */
  readonly netnsDirectory: string;
  /** Milliseconds that a whole RunPodSandbox may take. */
  readonly runTimeoutMs: number;
  /** Milliseconds for each cleanup after a failure; its own, since the deadline of what failed may be over. */
  readonly cleanupTimeoutMs: number;
  /** The least oom_score_adj that this machine lets anyone set. */
  readonly leastOomScoreAdj: number;
}

/** Shared by all operations of the service. */
export interface SandboxContext {
  readonly docker: Docker;
  readonly network: PodNetwork;
  readonly images: ImagePuller;
  readonly checkpoints: CheckpointDirectory;
  readonly created: CreationTimes;
  readonly owners: Owners;
  /** True if the network of a sandbox is set up, as far as this process knows; absent means unknown. */
  readonly networkReady: Map<string, boolean>;
  readonly locks: KeyedMutex;
  readonly settings: Settings;
  /** `cgroupfs` or `systemd`: how cgroup parents are spelled. */
  readonly cgroupDriver: (signal: AbortSignal) => Promise<string>;
  readonly clock: Clock;
  /** So many random bytes. */
  readonly random: (bytes: number) => Uint8Array;
  readonly log: Log;
  readonly tracer: Tracer;
  readonly faults: FaultPoints;
}
