/** Which pools this node may use, and for what. Pure. */
import { containsPrefix, parsePrefix } from '@podwire/addresses';
import type { Pool } from '@podwire/cluster-state';
import { describeError } from '@podwire/errors';
import type { PoolSpec } from '@podwire/ipam';
import type { Core } from '../core.js';
import { type Labels, parseSelector, type Selector } from '../selector.js';

const selectors = new Map<string, Selector>();

/** A selector that cannot be read selects nobody: better too few nodes than pods in a zone where they must not be. */
function selects(core: Pick<Core, 'problems'>, { name, nodeSelector }: Pool, labels: Labels): boolean {
  const topic = `selector of pool ${name}`;
  try {
    const selector = selectors.get(nodeSelector) ?? parseSelector(nodeSelector);
    selectors.set(nodeSelector, selector);
    core.problems.delete(topic);
    return selector(labels);
  } catch (error) {
    core.problems.set(topic, `POOL_INVALID: pool ${name}: nodeSelector: ${describeError(error)}`);
    return false;
  }
}

/** Whether new blocks and new leases may come from it on this node. */
export function isUsable(core: Core, pool: Pool): boolean {
  return !pool.disabled && !pool.deleting && selects(core, pool, core.labels);
}

/** By name. */
export function poolsOf(core: Core, network: string): Pool[] {
  const pools = [...core.pools().values()].filter((pool) => pool.network === network);
  return pools.sort((a, b) => (a.name < b.name ? -1 : 1));
}

export const familyOf = (pool: Pick<Pool, 'cidr'>): 4 | 6 => (pool.cidr.includes(':') ? 6 : 4);

/** What the node's IPAM gets: a pool that is not for this node (any more) is there for what it still has of it. */
export function toSpec(core: Core, pool: Pool): PoolSpec {
  const { name, cidr, blockSize, reserved, assignment, allocation } = pool;
  return { name, cidr, blockSize, reserved, assignment, allocation, disabled: !isUsable(core, pool) };
}

/** Blocks of this node in the pool. */
function blocksIn({ book }: Core, pool: Pool): number {
  const { family, address, length } = parsePrefix(pool.cidr);
  const bits = BigInt((family === 4 ? 32 : 128) - length);
  return book
    .blocks()
    .filter(
      ({ prefix }) => prefix.family === family && prefix.address.value >> bits === address.value >> bits,
    ).length;
}

/** Whether the node may have one block more of it. @param coming how many are about to be its own */
export function hasRoom(core: Core, pool: Pool, coming = 0): boolean {
  if (isTaken(core, pool)) return false;
  const most = pool.allocation === 'node-cidr' ? 1 : (pool.maxBlocksPerNode ?? Infinity);
  return blocksIn(core, pool) + coming < most;
}

/** Others have the whole of it: a link's network, say. */
export function isTaken({ taken }: Core, { cidr }: Pool): boolean {
  const pool = parsePrefix(cidr);
  return taken?.().some((part) => containsPrefix(part, pool)) === true;
}
