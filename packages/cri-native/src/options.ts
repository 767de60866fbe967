import type { PodNetwork } from '@podwire/pod-network';
import type { Clock, FaultPoints, Log } from '@podwire/platform';
import type { Tracer } from '@podwire/tracing';

export type { Clock, FaultPoints, Log };

export interface NativeRuntimeOptions {
  /** State of sandboxes and containers, one process at a time. Made with mode 0700 when it is absent. */
  readonly directory: string;
  readonly network: PodNetwork;
  /** The program `podwire-hold`. */
  readonly pauseProgram: string;
  /** Where network namespaces are pinned; `/run/netns`. */
  readonly netnsDirectory?: string;
  readonly clock?: Clock;
  /** So many random bytes, for ids. */
  readonly random?: (bytes: number) => Uint8Array;
  readonly log?: Log;
  readonly tracer?: Tracer;
  readonly faults?: FaultPoints;
  /** Default `/proc/sys/kernel/random/boot_id`. */
  readonly bootIdFile?: string;
}
