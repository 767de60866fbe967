/**
 * The pools of the cluster as elements of sets, so that a pool comes and goes without a change of the table: replacing
 * that takes nft, and every pod's elements are looked at again.
 */
import { containsPrefix, type Family, formatPrefix, parsePrefix, type Prefix } from '@podwire/addresses';
import type { NftElement } from '@podwire/backend-linux/resources';
import type { PoolView } from '@podwire/network-contract';
import { trafficTable } from './traffic-table.js';

const families: readonly Family[] = [4, 6];

/** All pools of the cluster, whichever network they belong to. */
export const poolsSet = (family: Family): string => `pools${family}`;
/** Pools whose pods get the node's address when they talk to the world. */
export const natPoolsSet = (family: Family): string => `natpools${family}`;

export const poolSets: string = families
  .flatMap((family) => [poolsSet(family), natPoolsSet(family)].map((name) => ({ family, name })))
  .map(({ family, name }) => `set ${name} { type ipv${family}_addr; flags interval; }`)
  .join('\n');

/** The contents of the sets. */
export function planPools(
  own: readonly PoolView[],
  elsewhere: readonly Pick<PoolView, 'cidr'>[],
): NftElement[] {
  const translated = own.filter(({ natOutgoing }) => natOutgoing);
  return families.flatMap((family) => [
    ...elementsOf(poolsSet(family), family, [...own, ...elsewhere]),
    ...elementsOf(natPoolsSet(family), family, translated),
  ]);
}

function elementsOf(set: string, family: Family, pools: readonly Pick<PoolView, 'cidr'>[]): NftElement[] {
  return outermost(pools, family).map((value) => ({
    kind: 'nft-element',
    family: trafficTable.family,
    table: trafficTable.name,
    set,
    key: [{ type: family === 4 ? 'ipv4_interval' : 'ipv6_interval', value }],
  }));
}

/** The pools of a family without those inside others: a set takes no overlapping intervals. */
function outermost(pools: readonly Pick<PoolView, 'cidr'>[], family: Family): string[] {
  const prefixes = pools.map((pool) => parsePrefix(pool.cidr)).filter((prefix) => prefix.family === family);
  const inside = (prefix: Prefix): boolean =>
    prefixes.some((other) => other.length < prefix.length && containsPrefix(other, prefix));
  return [...new Set(prefixes.filter((prefix) => !inside(prefix)).map(formatPrefix))].sort();
}
