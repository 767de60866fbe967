import fs from 'node:fs';
import type { NamespaceIdentity, Owned } from '@podwire/engine';
import { PodwireError } from '@podwire/errors';
import {
  hasCode,
  inNamespace,
  type LinkFeatureName,
  type NamespaceHandle,
  openNamespace,
  openOwnNamespace,
  readLinkFeature,
  switchLinkFeature,
} from '@podwire/linux';
import { type NetlinkConnection, openRouteConnection } from '@podwire/netlink';
import { type Conntrack, type Nftables, openConntrack, openNftables } from '@podwire/nftables';

/** Kernel parameters of one namespace. Keys are below /proc/sys, with slashes. */
export interface Sysctls {
  /** `undefined` when this kernel has no such parameter. */
  read(key: string): string | undefined;
  /** @throws SystemError, `ENOENT` when there is no such parameter */
  write(key: string, value: string): void;
}

/** Features of links in one namespace, as ethtool(8) has them. */
export interface LinkFeatures {
  /** @throws SystemError `ENODEV` when there is no such link */
  read(link: string, feature: LinkFeatureName): boolean;
  /** @throws SystemError `ENODEV`; `EOPNOTSUPP` when it cannot be switched there */
  switch(link: string, feature: LinkFeatureName, on: boolean): void;
}

/** One network namespace, opened: everything that backends may do in it. */
export interface KernelNamespace {
  readonly route: NetlinkConnection;
  readonly sysctls: Sysctls;
  readonly features: LinkFeatures;
  /** For IFLA_NET_NS_FD. */
  readonly fd: number;
  close(): void;
}

/** The system as backends see it: real ({@link openKernel}), or a fake one for tests without root. */
export interface Kernel {
  /** The node's own namespace, open as long as the kernel. */
  readonly host: KernelNamespace;
  /** A second connection to the host's rtnetlink, for slow requests that must not delay others. */
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

export interface KernelOptions {
  /** Milliseconds for one run of the program nft, so that one that hangs does not use up the time for everything else; 10 s when absent. */
  readonly programTimeout?: number;
}

/**
 * The kernel of this machine as one network namespace sees it: the calling process's own, or another one that
 * stands for the host (tests).
 */
export function openKernel(
  namespace?: Pick<NamespaceHandle, 'path'>,
  { programTimeout = 10_000 }: KernelOptions = {},
): Kernel {
  const handle = namespace === undefined ? openOwnNamespace() : openNamespace(namespace.path);
  const isOwn = namespace === undefined;
  const host = openKernelNamespace(handle, isOwn ? (work) => work() : (work) => inNamespace(handle, work));
  const background = openRouteConnection({ namespace: handle });
  const nftables = openNftables({ namespace: handle, timeout: programTimeout });
  const conntrack = openConntrack({ namespace: handle });
  return {
    host,
    background,
    nftables,
    conntrack,
    enter(identity) {
      const pod = openIdentified(identity);
      return openKernelNamespace(pod, (work) => inNamespace(pod, work));
    },
    close() {
      conntrack.close();
      nftables.close();
      background.close();
      host.close();
    },
  };
}

type RunInside = <T>(work: () => T) => T;

function openKernelNamespace(handle: NamespaceHandle, runInside: RunInside): KernelNamespace {
  const route = openConnection(handle);
  return {
    route,
    sysctls: openSysctls(runInside),
    features: openFeatures(runInside),
    fd: handle.fd,
    close() {
      route.close();
      handle.close();
    },
  };
}

/** Closes the namespace too when there is no descriptor left for a socket. */
function openConnection(handle: NamespaceHandle): NetlinkConnection {
  try {
    return openRouteConnection({ namespace: handle });
  } catch (error) {
    handle.close();
    throw error;
  }
}

/**
 * A path may have come to mean another namespace since (`/proc/PID/ns/net` of a pid that was used again).
 * @throws PodwireError NAMESPACE_GONE
 */
export function openIdentified(identity: NamespaceIdentity): NamespaceHandle {
  const handle = openOrGone(identity.path);
  if (handle.device === identity.device && handle.inode === identity.inode) return handle;
  handle.close();
  throw gone(identity.path, 'another namespace has taken its path');
}

function openOrGone(path: string): NamespaceHandle {
  try {
    return openNamespace(path);
  } catch (cause) {
    // EINVAL: the file is there but no longer a namespace, as after an unmount.
    if (hasCode(cause, 'ENOENT', 'ENOTDIR', 'EINVAL'))
      throw gone(path, 'there is no namespace at its path', cause);
    throw cause;
  }
}

function gone(path: string, why: string, cause?: unknown): PodwireError {
  return new PodwireError('NAMESPACE_GONE', `the network namespace ${path} is gone: ${why}`, { cause });
}

/**
 * /proc/sys/net shows the namespace of the thread that opens the file. A key comes from a plan, never from outside;
 * it is checked all the same, since what it names is written as root.
 */
function openSysctls(runInside: RunInside): Sysctls {
  const at = <T>(key: string, work: (file: string) => T): T => {
    if (!/^net(\/[\w.@:-]+)+$/.test(key) || key.split('/').includes('..'))
      throw new RangeError(`not a kernel parameter: ${key}`);
    return runInside(() => work(`/proc/sys/${key}`));
  };
  return {
    read: (key) => at(key, readOrAbsent),
    write: (key, value) => at(key, (file) => fs.writeFileSync(file, value)),
  };
}

function readOrAbsent(file: string): string | undefined {
  try {
    return fs.readFileSync(file, 'utf8').trim();
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** The command means links of the namespace in which its socket was opened. */
const openFeatures = (runInside: RunInside): LinkFeatures => ({
  read: (link, feature) => runInside(() => readLinkFeature(link, feature)),
  switch: (link, feature, on) => runInside(() => switchLinkFeature(link, feature, on)),
});

/** The pod's namespace in one call of the engine, opened when first needed. */
export class PodNamespace {
  readonly #kernel: Kernel;
  readonly #owned: Owned;
  #opened: KernelNamespace | undefined;

  constructor(kernel: Kernel, owned: Owned) {
    this.#kernel = kernel;
    this.#owned = owned;
  }

  /** @throws PodwireError NAMESPACE_GONE */
  open(): KernelNamespace {
    const { owner, namespace } = this.#owned;
    if (namespace === undefined)
      throw new PodwireError('INTERNAL', `${owner} has resources inside a pod but no pod namespace`);
    return (this.#opened ??= this.#kernel.enter(namespace));
  }

  /** Reports if the namespace is still the one it was. */
  isThere(): boolean {
    try {
      this.open();
      return true;
    } catch (error) {
      if (hasCode(error, 'NAMESPACE_GONE')) return false;
      throw error;
    }
  }

  close(): void {
    this.#opened?.close();
    this.#opened = undefined;
  }
}

/** Lets the sessions of one call share a namespace: the last one that is closed closes it. */
export class PodNamespaces {
  readonly #kernel: Kernel;
  readonly #uses = new Map<Owned, { readonly pod: PodNamespace; count: number }>();

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  acquire(owned: Owned): PodNamespace {
    const use = this.#uses.get(owned) ?? { pod: new PodNamespace(this.#kernel, owned), count: 0 };
    use.count += 1;
    this.#uses.set(owned, use);
    return use.pod;
  }

  release(owned: Owned): void {
    const use = this.#uses.get(owned);
    if (use === undefined || --use.count > 0) return;
    this.#uses.delete(owned);
    use.pod.close();
  }
}
