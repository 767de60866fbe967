import fs from 'node:fs';
import { PodwireError } from '@podwire/errors';
import { hasCode, inNamespace, type NamespaceHandle, openNamespace, openOwnNamespace } from '@podwire/linux';
import { type NetlinkConnection, openRouteConnection } from '@podwire/netlink';
import { openConntrack, openNftables } from '@podwire/nftables';
import type { Kernel, KernelNamespace, Parameters } from './kernel.js';
import type { NamespaceIdentity } from './engine.js';

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
  const background = openRouteConnection(handle);
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
    parameters: openParameters(runInside),
    fd: handle.fd,
    close() {
      route.close();
      handle.close();
    },
  };
}

/** Nobody else could close the namespace when there is no descriptor left for a socket. */
function openConnection(handle: NamespaceHandle): NetlinkConnection {
  try {
    return openRouteConnection(handle);
  } catch (error) {
    handle.close();
    throw error;
  }
}

/** A path may have come to mean another namespace since (`/proc/PID/ns/net` of a pid that was used again). */
function openIdentified(identity: NamespaceIdentity): NamespaceHandle {
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
function openParameters(runInside: RunInside): Parameters {
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
