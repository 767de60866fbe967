/** Pools and their blocks, from the store or, without one, from what the agents have. Pure. */
import type { ClusterShown, PoolShown } from '@podwire/cluster-ipam/operations';
import type { NodeAnswers, PoolAnswer } from '../answers.js';
import type { BlockRow, PoolRow, TrendPoint } from '../shapes.js';

/** Of one pool; more are only counted. */
export const mostBlocks = 256;

type Trends = ReadonlyMap<string, readonly TrendPoint[]>;
type Measured = Omit<PoolRow, 'trend'>;

export function viewPools(
  answers: readonly NodeAnswers[],
  shown: ClusterShown | undefined,
  trends: Trends,
): PoolRow[] {
  return measurePools(answers, shown).map((pool) => ({ ...pool, trend: trends.get(poolKey(pool)) ?? [] }));
}

export const poolKey = ({ network, name }: Pick<PoolRow, 'network' | 'name'>): string => `${network}/${name}`;

export function measurePools(answers: readonly NodeAnswers[], shown: ClusterShown | undefined): Measured[] {
  if (shown !== undefined) return shown.pools.map((pool) => measureShared(pool));
  const parts = answers.flatMap(({ name, ipam }) =>
    (ipam?.networks ?? []).flatMap(({ network, pools }) =>
      pools.map((pool) => measureOwn(name, network, pool)),
    ),
  );
  const byPool = new Map<string, Measured>();
  for (const part of parts) {
    const key = `${poolKey(part)} ${part.cidr}`;
    const before = byPool.get(key);
    byPool.set(key, before === undefined ? part : addUp(before, part));
  }
  return [...byPool.values()];
}

function measureShared(pool: PoolShown): Measured {
  const { name, network, cidr, configuration, total, inUse, free, lent, blocks } = pool;
  return {
    ...{ name, network, cidr, total, free, lent, used: inUse, cooling: 0 },
    state: configuration.deleting ? 'deleting' : configuration.disabled ? 'disabled' : 'enabled',
    share: shareOf(inUse, total),
    inBlocks: blocks.reduce((sum, { size }) => sum + size, 0),
    ...limitBlocks(
      blocks.map(({ cidr: own, node = '', size, inUse: used, lent: out }): BlockRow => {
        return { cidr: own, node, size, used, lent: out };
      }),
    ),
  };
}

/** Of one node, which counts only its own blocks in a pool that it shares. */
function measureOwn(node: string, network: string, pool: PoolAnswer): Measured {
  const blocks = pool.blocks.map(({ cidr, used, free, cooling, reserved, lent = 0 }): BlockRow => {
    return { cidr, node, size: used + free + cooling + reserved + lent, used: used + lent, lent };
  });
  const { name, cidr, size, used, cooling, free } = pool;
  return {
    ...{ name, network, cidr, total: size, free, used, cooling, lent: 0, state: 'enabled' },
    share: shareOf(used, size),
    inBlocks: blocks.reduce((sum, block) => sum + block.size, 0),
    ...limitBlocks(blocks),
  };
}

function addUp(a: Measured, b: Measured): Measured {
  const used = a.used + b.used;
  const sum = { used, cooling: a.cooling + b.cooling, inBlocks: a.inBlocks + b.inBlocks };
  const free = String(BigInt(a.free) - BigInt(b.used) - BigInt(b.cooling));
  const limited = limitBlocks([...a.blocks, ...b.blocks]);
  return {
    ...a,
    ...sum,
    free,
    share: shareOf(used, a.total),
    ...limited,
    more: a.more + b.more + limited.more,
  };
}

const limitBlocks = (blocks: readonly BlockRow[]) => ({
  blocks: blocks.slice(0, mostBlocks),
  more: Math.max(0, blocks.length - mostBlocks),
});

/** A pool of IPv6 has more addresses than a number can count. */
function shareOf(used: number, total: string): number {
  const all = Number(total);
  return all > 0 ? Math.min(1, used / all) : 0;
}
