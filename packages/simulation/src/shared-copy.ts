/**
 * One copy of the cluster for all simulated nodes. Each real node has its own, and follows every block; thousands of copies in one
 * process would measure nothing but this process. A node here hears only of what is its own business; what following all blocks costs one
 * node is measured apart (`measureFollowing`).
 */
import type { ClusterCopy, CopyChange } from '@podwire/cluster-state';

type Listener = (change: CopyChange) => void;

export interface SharedCopy {
  /** The copy as one node sees it. */
  of(node: string): ClusterCopy;
}

const nothing: ReadonlySet<string> = new Set();

export function shareCopy(copy: ClusterCopy): SharedCopy {
  const listeners = new Map<string, Set<Listener>>();
  /** Whose each block was when last heard of: who loses one must hear of it as well. */
  const owners = new Map<string, string>();

  const tell = (node: string, change: CopyChange): void => {
    for (const listener of listeners.get(node) ?? []) listener(change);
  };

  copy.onChange((change) => {
    if (change.pools.size + change.workloads.size + change.loanRequests.size > 0 || isEmpty(change)) {
      for (const node of listeners.keys())
        tell(node, { ...change, nodes: nothing, blocks: ownOf(node, change) });
      return;
    }
    for (const [node, blocks] of concerned(change)) tell(node, { ...change, nodes: nothing, blocks });
  });

  function ownOf(node: string, change: CopyChange): ReadonlySet<string> {
    return new Set([...change.blocks].filter((cidr) => copy.blocks.get(cidr)?.value.node === node));
  }

  function concerned({ blocks }: CopyChange): Map<string, Set<string>> {
    const affected = new Map<string, Set<string>>();
    for (const cidr of blocks) {
      const block = copy.blocks.get(cidr)?.value;
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
      ...copy,
      get connected() {
        return copy.connected;
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

/** Connected or cut off: everybody's business. */
const isEmpty = (change: CopyChange): boolean =>
  Object.values(change).every((names: ReadonlySet<string>) => names.size === 0);
