import { PodwireError } from '@podwire/errors';
import { hasCode } from '@podwire/linux';
import { decodeLink, getLink, type NetlinkMessage } from '@podwire/netlink';
import type { Owned } from './engine.js';
import type { Kernel, KernelNamespace } from './kernel.js';
import { isLink } from './link-resource.js';
import type { Resource, Side } from './resource.js';

/**
 * One call's view of the system: the host, and the pod's namespace once something needs it. Closed at the end of the
 * call.
 */
export interface Session {
  readonly kernel: Kernel;
  /** @throws PodwireError NAMESPACE_GONE */
  namespace(side: Side): KernelNamespace;
  /** Whether the pod's namespace is still the one it was. */
  reachesPod(): boolean;
  /** The index of a link, looked up once. @throws NetlinkBatchError ENODEV when there is no such link */
  indexOf(side: Side, link: string): number;
  /** Takes the indexes of new links from what the kernel answered, so that they need not be looked up. */
  learn(resource: Resource, replies: readonly NetlinkMessage[]): void;
  close(): void;
}

export function openSession(kernel: Kernel, owned: Pick<Owned, 'owner' | 'namespace'>): Session {
  let pod: KernelNamespace | undefined;
  const indexes = new Map<string, number>();

  const enterPod = (): KernelNamespace => {
    if (owned.namespace === undefined) {
      throw new PodwireError('INTERNAL', `${owned.owner} has resources inside a pod but no pod namespace`);
    }
    return kernel.enter(owned.namespace);
  };
  const namespace = (side: Side): KernelNamespace => (side === 'host' ? kernel.host : (pod ??= enterPod()));

  return {
    kernel,
    namespace,

    reachesPod() {
      try {
        return namespace('pod') !== undefined;
      } catch (error) {
        if (hasCode(error, 'NAMESPACE_GONE')) return false;
        throw error;
      }
    },

    indexOf(side, link) {
      const key = `${side}/${link}`;
      const index = indexes.get(key) ?? findIndex(namespace(side), link);
      indexes.set(key, index);
      return index;
    },

    learn(resource, [reply]) {
      if (reply === undefined) return;
      for (const [key, index] of indexesIn(resource, reply)) indexes.set(key, index);
    },

    close: () => pod?.close(),
  };
}

/** Linux 6.2 and newer echo a new link; of a veth they also tell the index of its other end, wherever that is. */
function indexesIn(resource: Resource, reply: NetlinkMessage): [string, number][] {
  if (!isLink(resource)) return [];
  const link = decodeLink(reply);
  const near: [string, number] = [`host/${link.name}`, link.index];
  if (resource.kind !== 'veth' || link.parent === undefined) return [near];
  return [near, [`pod/${resource.pod.name}`, link.parent]];
}

function findIndex(namespace: KernelNamespace, link: string): number {
  const [replies] = namespace.route.request([getLink(link)]);
  return decodeLink(replies![0]!).index;
}
