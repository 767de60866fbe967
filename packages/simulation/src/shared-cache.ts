/**
 * One cache of the cluster for all simulated nodes. Each real node has its own, and follows every block; thousands of copies in one
 * process would measure nothing but this process. A node here hears only of what is its own business; what following all blocks costs one
 * node is measured apart (`measureFollowing`).
 */
import type { ClusterCache, CacheChange } from '@podwire/cluster-state';

type Listener = (change: CacheChange) => void;

export interface SharedCache {
  /** The cache as one node sees it. */
  of(node: string): ClusterCache;
}

const nothing: ReadonlySet<string> = new Set();

export function shareCache(cache: ClusterCache): SharedCache {
  const listeners = new Map<string, Set<Listener>>();
  /** Whose each block was when last heard of: who loses one must hear of it as well. */
  const owners = new Map<string, string>();

  const notify = (node: string, change: CacheChange): void => {
    for (const listener of listeners.get(node) ?? []) listener(change);
  };

  cache.onChange((change) => {
    if (change.pools.size + change.workloads.size + change.borrowRequests.size > 0 || isEmpty(change)) {
      for (const node of listeners.keys())
        notify(node, { ...change, nodes: nothing, blocks: ownOf(node, change) });
      return;
    }
    for (const [node, blocks] of concerned(change)) notify(node, { ...change, nodes: nothing, blocks });
  });

  function ownOf(node: string, change: CacheChange): ReadonlySet<string> {
    return new Set([...change.blocks].filter((cidr) => cache.blocks.get(cidr)?.value.node === node));
  }

  function concerned({ blocks }: CacheChange): Map<string, Set<string>> {
    const affected = new Map<string, Set<string>>();
    for (const cidr of blocks) {
      const block = cache.blocks.get(cidr)?.value;
      const nodes = [owners.get(cidr), block?.node, ...(block?.loans.map(({ node }) => node) ?? [])];
      for (const node of new Set(nodes)) {
        if (node !== undefined) affected.set(node, (affected.get(node) ?? new Set()).add(cidr));
      }
      if (block?.node === undefined) owners.delete(cidr);
      else owners.set(cidr, block.node);
    }
    return affected;
  }

  return {
    of: (node) => ({
      ...cache,
      get connected() {
        return cache.connected;
      },
      onChange(listener) {
        const own = listeners.get(node) ?? new Set();
        listeners.set(node, own.add(listener));
        return () => void own.delete(listener);
      },
      close: () => Promise.resolve(),
    }),
  };
}

/** A change of the connection concerns every node. */
const isEmpty = (change: CacheChange): boolean =>
  Object.values(change).every((names: ReadonlySet<string>) => names.size === 0);
