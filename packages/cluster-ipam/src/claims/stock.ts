/** When a block is claimed ahead of need, and when one is too many. */
import { containsPrefix, parsePrefix, type Prefix } from '@podwire/addresses';
import type { Pool } from '@podwire/cluster-state';
import type { Core } from '../core.js';
import type { Held } from '../holdings/book.js';
import { familyOf, hasRoom, isUsable, poolsOf } from './pools.js';

/** Names of the pools to claim a block of, so that nobody has to wait for one. */
export function poolsToClaim(core: Core): string[] {
  return [...core.ipams.keys()].flatMap((network) => {
    const pools = poolsOf(core, network).filter((pool) => isUsable(core, pool));
    const nodeCidrs = pools.filter((pool) => pool.allocation === 'node-cidr' && hasRoom(core, pool));
    const shared = pools.filter((pool) => pool.allocation === 'blocks' && pool.assignment === 'automatic');
    const ahead = ([4, 6] as const).flatMap((family) => {
      const own = shared.filter((pool) => familyOf(pool) === family);
      if (!isLow(core, network, own)) return [];
      // The first that has something, as IPAM takes them.
      return own.find((pool) => hasRoom(core, pool) && core.index.free(pool.name) > 0) ?? [];
    });
    return [...nodeCidrs, ...ahead].map(({ name }) => name);
  });
}

/** Nothing is in stock, and IPAM has little left. */
const isLow = (core: Core, network: string, pools: readonly Pool[]): boolean =>
  pools.length > 0 && wholeStock(core, pools).length === 0 && isShort(core, network, pools);

/** More than half of the block that is open is in use. */
function isShort(core: Core, network: string, pools: readonly Pool[]): boolean {
  const free = freeAddresses(core, network, new Set(pools.map(({ name }) => name)));
  return free * 2 <= Math.min(...pools.map(sizeOfBlock));
}

function sizeOfBlock({ cidr, blockSize }: Pool): number {
  return 2 ** ((cidr.includes(':') ? 128 : 32) - blockSize);
}

/** In blocks that IPAM has; single addresses do not count. */
export function freeAddresses({ ipams }: Core, network: string, pools: ReadonlySet<string>): number {
  const reports = ipams.get(network)?.report() ?? [];
  return reports
    .filter(({ name }) => pools.has(name))
    .flatMap(({ blocks }) => blocks)
    .reduce((sum, { free }) => sum + free, 0);
}

export function wholeStock({ book }: Core, pools: readonly Pool[]): Held[] {
  const prefixes = pools.map(({ cidr }) => parsePrefix(cidr));
  return book
    .stock()
    .filter(
      (held) => held.lender === undefined && prefixes.some((pool) => containsPrefix(pool, held.prefix)),
    );
}

/** Blocks in stock that the cluster may have back. */
export function surplusBlocks(core: Core): Held[] {
  const { book, clock, timing } = core;
  const idle = book
    .stock()
    .filter((held) => held.lender === undefined && held.used === 0 && held.state === 'confirmed')
    .filter((held) => (core.cache.blocks.get(held.cidr)?.value.loans.length ?? 0) === 0);
  const kept = new Set<string>();
  return idle.filter((held) => {
    const pool = poolOf(core, held.prefix);
    if (pool === undefined || !isUsable(core, pool)) return true;
    if (pool.allocation === 'node-cidr') return false;
    const group = `${pool.network} ${familyOf(pool)}`;
    const isSpare =
      pool.assignment === 'automatic' && !kept.has(group) && isShort(core, pool.network, alike(core, pool));
    if (isSpare) kept.add(group);
    return !isSpare && clock.elapsed() - held.since >= timing.keepSurplus;
  });
}

/** The pools that can serve who does not care which. */
const alike = (core: Core, { network, cidr }: Pool): Pool[] =>
  poolsOf(core, network).filter(
    (pool) =>
      familyOf(pool) === familyOf({ cidr }) &&
      pool.allocation === 'blocks' &&
      pool.assignment === 'automatic' &&
      isUsable(core, pool),
  );

const poolOf = (core: Core, block: Prefix): Pool | undefined =>
  [...core.pools().values()].find(({ cidr }) => containsPrefix(parsePrefix(cidr), block));
