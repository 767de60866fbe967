/** Spare blocks: when one is claimed ahead of need, and when one is surplus. */
import { addressBits, containsPrefix, parsePrefix } from '@podwire/addresses';
import type { ClusterCache, Pool } from '@podwire/cluster-state';
import type { Ipam } from '@podwire/ipam';
import type { Clock } from '@podwire/platform';
import type { Affinity, AllocationState } from '../affinities/allocation-state.js';
import { familyOf, type NodePools } from '../node-pools.js';
import type { BlockIndex } from './block-index.js';

export interface SpareBlocksOptions {
  readonly pools: NodePools;
  readonly state: AllocationState;
  readonly index: BlockIndex;
  readonly ipams: ReadonlyMap<string, Ipam>;
  readonly cache: ClusterCache;
  readonly clock: Clock;
  /** Milliseconds for which a surplus block is kept. */
  readonly keepSurplus: number;
}

export class SpareBlocks {
  readonly #options: SpareBlocksOptions;

  constructor(options: SpareBlocksOptions) {
    this.#options = options;
  }

  /** Names of the pools to claim a block of now, so that no ADD has to wait for it. */
  poolsToClaim(): string[] {
    const { ipams, pools, index } = this.#options;
    return [...ipams.keys()].flatMap((network) => {
      const usable = pools.ofNetwork(network).filter((pool) => pools.isUsable(pool));
      const nodeCidrs = usable.filter((pool) => pool.allocation === 'node-cidr' && pools.hasRoom(pool));
      const shared = usable.filter(isForEveryPod);
      const ahead = ([4, 6] as const).flatMap((family) => {
        const own = shared.filter((pool) => familyOf(pool) === family);
        if (own.length === 0 || this.blocksOf(own).length > 0 || !this.#isLow(network, own)) return [];
        // The first that has a block, in IPAM's order.
        return own.find((pool) => pools.hasRoom(pool) && index.free(pool.name) > 0) ?? [];
      });
      return [...nodeCidrs, ...ahead].map(({ name }) => name);
    });
  }

  /** At most half a block of addresses is free. */
  #isLow(network: string, pools: readonly Pool[]): boolean {
    const free = this.freeAddresses(network, new Set(pools.map(({ name }) => name)));
    return free * 2 <= Math.min(...pools.map((pool) => 2 ** (addressBits(familyOf(pool)) - pool.blockSize)));
  }

  /** Free addresses in the blocks that IPAM has; borrowed addresses do not count. */
  freeAddresses(network: string, pools: ReadonlySet<string>): number {
    const reports = this.#options.ipams.get(network)?.report() ?? [];
    return reports
      .filter(({ name }) => pools.has(name))
      .flatMap(({ blocks }) => blocks)
      .reduce((sum, { free }) => sum + free, 0);
  }

  /** Spare blocks of the pools. */
  blocksOf(pools: readonly Pool[]): Affinity[] {
    const prefixes = pools.map(({ cidr }) => parsePrefix(cidr));
    return this.#options.state
      .spares()
      .filter(
        ({ borrowedFrom, prefix }) =>
          borrowedFrom === undefined && prefixes.some((pool) => containsPrefix(pool, prefix)),
      );
  }

  /** Spare blocks that the node should release. */
  surplus(): Affinity[] {
    const { state, cache, pools, clock, keepSurplus } = this.#options;
    const idle = state
      .spares()
      .filter(
        ({ borrowedFrom, used, state: phase }) =>
          borrowedFrom === undefined && used === 0 && phase === 'confirmed',
      )
      .filter(({ cidr }) => (cache.blocks.get(cidr)?.value.loans.length ?? 0) === 0);
    const kept = new Set<string>();
    return idle.filter((affinity) => {
      const pool = pools.around(affinity.prefix.address);
      if (pool === undefined || !pools.isUsable(pool)) return true;
      if (pool.allocation === 'node-cidr') return false;
      const group = `${pool.network} ${familyOf(pool)}`;
      const isNeeded =
        pool.assignment === 'automatic' && !kept.has(group) && this.#isLow(pool.network, this.#like(pool));
      if (isNeeded) kept.add(group);
      return !isNeeded && clock.elapsed() - affinity.since >= keepSurplus;
    });
  }

  /** The pools that serve the same requests. */
  #like(pool: Pool): Pool[] {
    const { pools } = this.#options;
    return pools
      .ofNetwork(pool.network)
      .filter((each) => familyOf(each) === familyOf(pool) && isForEveryPod(each) && pools.isUsable(each));
  }
}

const isForEveryPod = ({ allocation, assignment }: Pool): boolean =>
  allocation === 'blocks' && assignment === 'automatic';
