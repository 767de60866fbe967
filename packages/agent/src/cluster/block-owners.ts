import type { ClusterCache } from '@podwire/cluster-state';

/** Nodes by block: a change of a block concerns the nodes that had it and the nodes that have it now. */
export interface BlockOwners {
  /** The nodes that a change of these blocks concerns; remembers who has them now. */
  affected(cidrs: Iterable<string>): Set<string>;
}

const none: readonly string[] = [];

export function createBlockOwners({ blocks }: Pick<ClusterCache, 'blocks'>): BlockOwners {
  const before = new Map<string, readonly string[]>();
  const ownersNow = (cidr: string): readonly string[] => {
    const block = blocks.get(cidr)?.value;
    if (block === undefined) return none;
    const owner = block.node === undefined ? none : [block.node];
    return block.loans.length === 0 ? owner : [...owner, ...block.loans.map(({ node }) => node)];
  };
  return {
    affected(cidrs) {
      const names = new Set<string>();
      for (const cidr of cidrs) {
        const now = ownersNow(cidr);
        for (const name of before.get(cidr) ?? none) names.add(name);
        for (const name of now) names.add(name);
        if (now.length === 0) before.delete(cidr);
        else before.set(cidr, now);
      }
      return names;
    },
  };
}
