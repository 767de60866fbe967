/** The pools of the cluster as this node sees them, also while the store is away, and after a pool in use was deleted. */
import { containsPrefix, overlaps, parsePrefix } from '@podwire/addresses';
import { type ClusterCache, type Pool, poolKind } from '@podwire/cluster-state';
import type { PoolView } from '@podwire/network-contract';

export interface ClusterPools {
  /** Takes over what the cache says now. */
  refresh(): void;
  /** By name. */
  readonly all: readonly Pool[];
  ofNetwork(network: string): readonly PoolView[];
  /** Of networks that this node does not have: their addresses are inside the cluster all the same. */
  elsewhere(networks: ReadonlySet<string>): readonly PoolView[];
  /** Pools that are gone although blocks of them are owned: they count until those are gone too. */
  readonly lost: readonly Pool[];
}

export interface ClusterPoolsOptions {
  readonly cache: Pick<ClusterCache, 'pools' | 'blocks'>;
  /** As an earlier life has seen them; for as long as the store does not answer. */
  readonly remembered: readonly unknown[];
}

export function createClusterPools({ cache, remembered }: ClusterPoolsOptions): ClusterPools {
  let all: readonly Pool[] = sortByName(remembered.flatMap(readPool));
  let lost: readonly Pool[] = [];

  const isInUse = ({ cidr }: Pool): boolean => {
    const pool = parsePrefix(cidr);
    return [...cache.blocks.keys()].some((block) => containsPrefix(pool, parsePrefix(block)));
  };
  return {
    refresh() {
      const present = [...cache.pools.values()].map(({ value }) => value);
      const names = new Set(present.map(({ name }) => name));
      // A pool that was split has parts that hold its blocks.
      const covered = (cidr: string): boolean =>
        present.some((pool) => overlaps(parsePrefix(pool.cidr), parsePrefix(cidr)));
      lost = all.filter((pool) => !names.has(pool.name) && !covered(pool.cidr) && isInUse(pool));
      all = sortByName([...present, ...lost.map((pool) => ({ ...pool, disabled: true }))]);
    },
    get all() {
      return all;
    },
    get lost() {
      return lost;
    },
    ofNetwork: (network) => all.filter((pool) => pool.network === network).map(viewPool),
    elsewhere: (networks) => all.filter((pool) => !networks.has(pool.network)).map(viewPool),
  };
}

function readPool(value: unknown): Pool[] {
  const found = poolKind.schema.safeParse(value);
  return found.success ? [found.data] : [];
}

function viewPool({ name, cidr, natOutgoing, encapsulation }: Pool): PoolView {
  return { name, cidr, natOutgoing, encapsulation };
}

const sortByName = (pools: readonly Pool[]): readonly Pool[] =>
  pools.toSorted((a, b) => (a.name < b.name ? -1 : 1));
