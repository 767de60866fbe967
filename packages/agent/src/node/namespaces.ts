import path from 'node:path';
import type { NamespaceIdentity } from '@podwire/engine';
import { PodwireError } from '@podwire/errors';
import { hasCode, openNamespace, openOwnNamespace } from '@podwire/linux';

/** Network namespaces by their paths. */
export interface Namespaces {
  /**
   * The namespace that the path names now.
   * @throws PodwireError NAMESPACE_GONE when there is nothing, NAMESPACE_INVALID when it is no network namespace, and
   *   unless `allowOwn` when it is the agent's own
   */
  identify(file: string, options?: { allowOwn?: boolean }): NamespaceIdentity;
  /** The path leads to nothing, or to another namespace than it did. What cannot be told counts as alive. */
  isGone(identity: NamespaceIdentity): boolean;
}

export function createNamespaces(): Namespaces {
  const own = openOwnNamespace();
  own.close();

  const namespaces: Namespaces = {
    identify(file, { allowOwn = false } = {}) {
      const identity = identify(file);
      if (!allowOwn && isSame(identity, own)) {
        throw new PodwireError('NAMESPACE_INVALID', `${file} is the network namespace of the node itself`);
      }
      return identity;
    },
    isGone(identity) {
      try {
        return !isSame(identify(identity.path), identity);
      } catch (error) {
        return error instanceof PodwireError && error.code === 'NAMESPACE_GONE';
      }
    },
  };
  return namespaces;
}

function isSame(
  a: Pick<NamespaceIdentity, 'device' | 'inode'>,
  b: Pick<NamespaceIdentity, 'device' | 'inode'>,
): boolean {
  return a.device === b.device && a.inode === b.inode;
}

function identify(file: string): NamespaceIdentity {
  if (!path.isAbsolute(file) || file.includes('\0')) {
    throw new PodwireError(
      'NAMESPACE_INVALID',
      `CNI_NETNS must be an absolute path, is ${JSON.stringify(file)}`,
    );
  }
  try {
    const handle = openNamespace(file);
    handle.close();
    return { path: file, device: handle.device, inode: handle.inode };
  } catch (cause) {
    const gone = hasCode(cause, 'ENOENT', 'ENOTDIR', 'ESRCH');
    throw gone
      ? new PodwireError('NAMESPACE_GONE', `there is no network namespace at ${file}`, { cause })
      : new PodwireError('NAMESPACE_INVALID', `${file} is no network namespace`, { cause });
  }
}
