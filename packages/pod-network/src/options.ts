import type { Exec } from '@podwire/cni';
import type { Clock, Log } from '@podwire/platform';
import type { Tracer } from '@podwire/tracing';
import type { StartWatching } from './config/watch.js';

/** The plugin directories of runtimes and of Debian. */
export const defaultPluginPath: readonly string[] = ['/opt/cni/bin', '/usr/lib/cni'];

export type LoopbackMode = 'native' | 'plugin' | 'none';

export interface PodNetworkOptions {
  /** The directory of CNI configuration; default `/etc/cni/net.d`. */
  readonly configDirectory?: string;
  /** Take the network of this name instead of the first usable one. */
  readonly network?: string;
  /** The directories of plugins; default `/opt/cni/bin` and `/usr/lib/cni`. */
  readonly pluginPath?: readonly string[];
  /**
   * For what must outlive this process and the boot: `sandboxes/` (what was asked for) and `cache/` (CNI's results). Not shared
   * with others, since what is stale in it is detached.
   */
  readonly stateDirectory: string;
  /** The way `lo` is brought up: this process, the `loopback` plugin, or none. Default `native`. */
  readonly loopback?: LoopbackMode;
  /** Milliseconds for one setUp or tearDown, all networks together; default 220,000 (kubelet's). Waiting for a turn does not count. */
  readonly timeoutMs?: number;
  /** Milliseconds for STATUS and for VERSION of each plugin; default 5,000. */
  readonly probeTimeoutMs?: number;
  /** Milliseconds that the start waits for leftovers to be taken off; what is not done then goes on. Default 30,000. */
  readonly recoveryMs?: number;
  /** Milliseconds between looks at configuration and STATUS; default 5,000. */
  readonly pollMs?: number;
  /** Milliseconds; default 50. */
  readonly debounceMs?: number;
  /** Wait for the disk when something is recorded; default true. */
  readonly durable?: boolean;
  readonly tracer?: Tracer;
  readonly log?: Log;
  /** The environment that plugins inherit; default this process's environment. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly system?: Partial<PodNetworkSystem>;
}

/** The environment, which tests replace. */
export interface PodNetworkSystem {
  readonly clock: Clock;
  readonly exec: Exec;
  readonly startWatching: StartWatching;
  /** Default `/proc/sys/kernel/random/boot_id`. */
  readonly bootIdFile: string;
  /** The identity of a pinned namespace; undefined when there is none at the path. */
  readonly identifyNamespace: (path: string) => string | undefined;
  /** Brings `lo` up inside. */
  readonly bringLoopbackUp: (path: string) => void;
}
