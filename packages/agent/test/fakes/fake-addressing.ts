import { containsAddress, containsPrefix, formatPrefix, parsePrefix, splitPrefix } from '@podwire/addresses';
import { type Block, blockKind, type Allocation, type Pool } from '@podwire/cluster-state';
import type { BlockAffinity, NodeAddressing, NodeAddressingOptions } from '@podwire/cluster-ipam';
import { PodwireError } from '@podwire/errors';
import type { PoolSpec } from '@podwire/ipam';
import { encodeObject } from '@podwire/store';

export interface FakeAddressing extends NodeAddressing {
  fenced: boolean;
  readonly used: Map<string, Allocation>;
}

/** The contract without a cluster: claims the first free block on demand, reports nothing. */
export function createFakeAddressing(options: NodeAddressingOptions): FakeAddressing {
  const { node, instance, store, keys, cache, savedState: file, clock } = options;
  const listeners = new Set<() => void>();
  const given = new Set<string>();
  let affinities: BlockAffinity[] = [];
  let remembered: Pool[] = [];
  let isSynced = false;
  cache.synced.then(
    () => (isSynced = true),
    () => undefined,
  );

  const poolsOf = (network: string): Pool[] =>
    (isSynced ? [...cache.pools.values()].map(({ value }) => value) : remembered).filter(
      (pool) => pool.network === network,
    );
  function announce(): void {
    file.write({
      version: 1,
      node,
      instance,
      affinities,
      pools: isSynced ? [...cache.pools.values()].map(({ value }) => value) : remembered,
      confirmedAt: clock.now(),
    });
    for (const listener of listeners) listener();
  }
  async function claim(pool: Pool): Promise<void> {
    const taken = new Set([...cache.blocks.keys()]);
    const free = [...splitPrefix(parsePrefix(pool.cidr), pool.blockSize)]
      .map(formatPrefix)
      .find((cidr) => !taken.has(cidr));
    if (free === undefined) throw new PodwireError('POOL_EXHAUSTED', `no block left in ${pool.name}`);
    const block: Block = {
      cidr: free,
      node,
      instance,
      state: 'confirmed',
      claimedAt: clock.now(),
      loans: [],
    };
    const revision = await store.put(keys.block(free), encodeObject(blockKind, block), { expect: 'absent' });
    cache.note(keys.block(free), block, revision);
    affinities = [...affinities, { cidr: free, state: 'confirmed' }];
    announce();
  }
  cache.onChange(({ pools, blocks }) => {
    if (blocks.size > 0) {
      affinities = affinities.filter(({ cidr }) => cache.blocks.get(cidr)?.value.node === node);
      announce();
    } else if (pools.size > 0) announce();
  });

  const self: FakeAddressing = {
    fenced: false,
    used: new Map(),
    start() {
      if (!cache.connected) {
        const found = file.read();
        if (found === undefined)
          return Promise.reject(new PodwireError('AGENT_NOT_READY', 'nothing is known'));
        affinities = [...found.affinities];
        remembered = found.pools as Pool[];
      } else affinities = cache.blocksOf(node).map((cidr) => ({ cidr, state: 'confirmed' }));
      announce();
      return Promise.resolve();
    },
    pools: (network) =>
      poolsOf(network).map(({ name, cidr, blockSize, reserved, disabled }): PoolSpec => ({
        name,
        cidr,
        blockSize,
        reserved,
        disabled,
      })),
    source: () => ({
      claim(pool, holding) {
        const found = affinities
          .map(({ cidr }) => parsePrefix(cidr))
          .find(
            (block) =>
              containsPrefix(pool.prefix, block) &&
              !given.has(formatPrefix(block)) &&
              (holding === undefined || containsAddress(block, holding)),
          );
        if (found !== undefined) given.add(formatPrefix(found));
        return found;
      },
      giveBack: (_, block) => void given.delete(formatPrefix(block)),
    }),
    async provide({ network, families }) {
      for (const pool of poolsOf(network)) {
        if (!pool.disabled && families.includes(pool.cidr.includes(':') ? 6 : 4)) await claim(pool);
      }
    },
    attach: () => undefined,
    hasWorkload: () => false,
    addressesFor: () => Promise.resolve(undefined),
    noteAssigned: () => undefined,
    noteUnassigned: () => undefined,
    requireUnfenced() {
      if (self.fenced) throw new PodwireError('NODE_FENCED', 'cut off for too long');
    },
    noteUsed: (entry) => void self.used.set(entry.address, entry),
    noteFree: (address) => void self.used.delete(address),
    affinities: () => affinities,
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    flush: () => Promise.resolve(),
    status: () => ({
      connected: cache.connected,
      confirmedAt: clock.now(),
      fenced: self.fenced,
      affinities,
      unreported: 0,
      problems: [],
    }),
    stop: () => Promise.resolve(),
  };
  return self;
}
