/** The network of the pods of a node, as a runtime sees it. Implemented over CNI; `/fake` has one in memory. */
import type { PortMapping } from '@podwire/cni';
import type { SpanContext } from '@podwire/tracing';

/** A sandbox that wants a network. */
export interface PodAttachment {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** CNI's container id. */
  readonly sandboxId: string;
  /** A pinned network namespace: `/run/netns/…`, never `/proc/PID/ns/net`, which another process may get (cri-o #2849). */
  readonly netns: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly portMappings: readonly PortMapping[];
  readonly dns?: {
    readonly servers: readonly string[];
    readonly searches: readonly string[];
    readonly options: readonly string[];
  };
  readonly cgroupParent?: string;
}

/** Enough to take a sandbox off its network; all else is in the cache since ADD. */
export interface PodDetachment {
  readonly namespace: string;
  readonly name: string;
  readonly sandboxId: string;
  /** Absent when it is gone; plugins then clean the host's side. */
  readonly netns?: string;
}

export interface NetworkCallOptions {
  readonly signal?: AbortSignal;
  readonly parent?: SpanContext;
}

export interface AttachedPod {
  /** Without prefix length; the first one is the primary. */
  readonly addresses: readonly string[];
  /** Name of the CNI network. */
  readonly network: string;
}

export interface NetworkStatus {
  readonly ready: boolean;
  /** `NetworkPluginNotReady` or empty. */
  readonly reason: string;
  readonly message: string;
}

export type FileStatus = 'chosen' | 'not needed' | 'broken' | 'unusable' | 'other name';

/** Why the network is what it is, for `podwire net explain`. */
export interface NetworkChoice {
  readonly directory: string;
  /** The name it is pinned to. */
  readonly pinned?: string;
  /** The network in use. `kept`: the file it came from is gone or broken since, and the last good one stays. */
  readonly network?: {
    readonly name: string;
    readonly file: string;
    readonly plugins: readonly string[];
    readonly kept: boolean;
  };
  readonly files: readonly { readonly file: string; readonly verdict: FileStatus; readonly why: string }[];
  /** Milliseconds since the epoch. */
  /** Of the latest scan; this name and `verdict` are those of `podwire net -o json`. */
  readonly lookedAt: number;
  readonly status: NetworkStatus;
}

export interface PodNetwork {
  /**
   * Attaches a sandbox: loopback, then the network. After a failure everything is taken back, with a deadline of its own.
   * Serial for one pod (NAMESPACE/NAME), parallel for different ones.
   * @throws PodwireError NETWORK_NOT_READY, NETWORK_ATTACH_FAILED
   */
  setUp(pod: PodAttachment, options?: NetworkCallOptions): Promise<AttachedPod>;
  /** Idempotent; needs no configuration file, only what was cached at ADD. @throws PodwireError NETWORK_DETACH_FAILED */
  tearDown(pod: PodDetachment, options?: NetworkCallOptions): Promise<void>;
  /** Addresses that the sandbox got, from the cached result. Undefined when it has none. */
  addresses(sandboxId: string): Promise<readonly string[] | undefined>;
  /** The latest status; nothing is started for it. */
  status(): NetworkStatus;
  explain(): Promise<NetworkChoice>;
  /** The pod range of this node (UpdateRuntimeConfig); the first one sticks. */
  setPodCidrs(cidrs: readonly string[]): void;
  /** Frees what belongs to none of these sandboxes. Exclusive with setUp and tearDown. */
  collectGarbage(liveSandboxIds: readonly string[], options?: NetworkCallOptions): Promise<void>;
  /** Ends watching. Calls that are under way go on to their end first. */
  close(): Promise<void>;
}
