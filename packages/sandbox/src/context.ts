import type { PodNetwork } from '@podwire/pod-network';
import type { OpenSpan, Tracer } from '@podwire/tracing';
import type { CheckpointDirectory } from './checkpoint/checkpoint.js';
import type { CreationTimes } from './creation-times.js';
import type { Docker } from './docker/index.js';
import type { ImagePuller } from './images/pull.js';
import type { SandboxLocks } from './sandboxes/locks.js';

/** Milliseconds; passed in so that tests have their own. */
export interface Clock {
  /** Since the epoch. */
  now(): number;
  /** Of a clock that only goes forward. */
  elapsed(): number;
  /** @throws the signal's reason */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
}

/** What pino's loggers are, as far as it is used here. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/**
 * Points at which a test may end the process. They are reached between all steps, before and after every outside effect;
 * names are stable.
 */
export interface FaultPoints {
  reach(point: string): void;
}

export const noFaults: FaultPoints = { reach: () => undefined };

export interface Settings {
  readonly sandboxImage: string;
  /** Where network namespaces are pinned. */
  readonly netnsDirectory: string;
  /** Milliseconds that a whole RunPodSandbox may take. */
  readonly runTimeoutMs: number;
  /** Milliseconds for each cleanup after a failure; its own, since the deadline of what failed may be over. */
  readonly cleanupTimeoutMs: number;
  /** The least oom_score_adj that this machine lets anyone set. */
  readonly leastOomScoreAdj: number;
}

/** What every operation of the service is given. */
export interface SandboxContext {
  readonly docker: Docker;
  readonly network: PodNetwork;
  readonly images: ImagePuller;
  readonly checkpoints: CheckpointDirectory;
  readonly created: CreationTimes;
  /** Whether the network of a sandbox is set up, as far as this process knows: absent means unknown. */
  readonly networkReady: Map<string, boolean>;
  readonly locks: SandboxLocks;
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

/** What one call of an operation carries. */
export interface Work {
  readonly signal: AbortSignal;
  readonly span: OpenSpan;
}
