import type { NetlinkConnection } from '@podwire/netlink';
import type { Conntrack, Nftables } from '@podwire/nftables';
import type { NamespaceIdentity } from './engine.js';

/** Kernel parameters of one namespace. Keys are below /proc/sys, with slashes. */
export interface Parameters {
  /** `undefined` when this kernel has no such parameter. */
  read(key: string): string | undefined;
  /** @throws SystemError, `ENOENT` when there is no such parameter */
  write(key: string, value: string): void;
}

/** One network namespace, opened: everything the providers may do in it. */
export interface KernelNamespace {
  readonly route: NetlinkConnection;
  readonly parameters: Parameters;
  /** For IFLA_NET_NS_FD. */
  readonly fd: number;
  close(): void;
}

/** The system as the engine sees it: real (`real-kernel.ts`), or a fake one for tests without root. */
export interface Kernel {
  /** The node's own namespace, open as long as the kernel. */
  readonly host: KernelNamespace;
  /** A second connection to the host's rtnetlink, for slow requests that must not stand in the way of others. */
  readonly background: NetlinkConnection;
  /** The packet filter of the node. Models put no tables into pods. */
  readonly nftables: Nftables;
  readonly conntrack: Conntrack;
  /**
   * Opens the namespace of a pod.
   * @throws PodwireError NAMESPACE_GONE when the path names nothing, or another namespace than it did
   */
  enter(identity: NamespaceIdentity): KernelNamespace;
  close(): void;
}
