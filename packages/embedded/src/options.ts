import type { PodNetwork } from '@podwire/pod-network';
import type { Tracer } from '@podwire/tracing';

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

export interface EmbeddedOptions {
  /** State of sandboxes and containers, one process at a time. Made with mode 0700 when it is absent. */
  readonly directory: string;
  readonly network: PodNetwork;
  /** The program `podwire-hold`. */
  readonly holder: string;
  /** Where network namespaces are pinned; `/run/netns`. */
  readonly netnsDirectory?: string;
  /** Where a pod's shared memory lies; `/dev/shm`. */
  readonly shmDirectory?: string;
  readonly clock?: Clock;
  /** So many random bytes, for ids. */
  readonly random?: (bytes: number) => Uint8Array;
  readonly log?: Log;
  readonly tracer?: Tracer;
  readonly faults?: FaultPoints;
  /** Default `/proc/sys/kernel/random/boot_id`. */
  readonly bootIdFile?: string;
}
