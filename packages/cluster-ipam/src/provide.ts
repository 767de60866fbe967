/** The slow way: what a node does for somebody whom its own blocks cannot serve. */
import { formatAddress, parseAddress, parseInterfaceAddress, type Address } from '@podwire/addresses';
import type { Pool } from '@podwire/cluster-state';
import { PodwireError } from '@podwire/errors';
import { claimBlock } from './claims/claim.js';
import { familyOf, hasRoom, isTaken, isUsable, poolsOf } from './claims/pools.js';
import { freeAddresses, wholeStock } from './claims/stock.js';
import type { Need } from './contract.js';
import { type Core, poolAround } from './core.js';
import { borrow, borrowAny } from './loans/borrow.js';

/** @throws PodwireError POOL_EXHAUSTED, ADDRESS_IN_USE, ADDRESS_NOT_IN_POOL, NODE_FENCED, STORE_UNAVAILABLE */
export async function provide(core: Core, need: Need, signal: AbortSignal): Promise<void> {
  core.trust.require();
  const requested = (need.requested ?? []).map(readAddress);
  for (const address of requested) await provideAddress(core, need, address, signal);
  const named = new Set(requested.map(({ family }) => family));
  for (const family of need.families) {
    if (!named.has(family)) await provideAny(core, need, family, signal);
  }
}

function readAddress(text: string): Address {
  return text.includes('/') ? parseInterfaceAddress(text).address : parseAddress(text);
}

async function provideAddress(core: Core, need: Need, address: Address, signal: AbortSignal): Promise<void> {
  const text = formatAddress(address);
  const pool = poolAround(core, address);
  if (pool?.network !== need.network) {
    const message = `${text} cannot be given: it is in no pool of network ${need.network}`;
    throw new PodwireError('ADDRESS_NOT_IN_POOL', message, { details: { address: text } });
  }
  if (core.book.around(address) !== undefined) return;
  const workload = core.workloads.keeperOf(pool.network, text);
  if (workload !== undefined && workload !== need.workload) throw keptByWorkload(text, pool, workload);
  if (isUsable(core, pool) && (await claimBlock(core, pool.name, address, signal)) === 'claimed') return;
  if (pool.allocation === 'node-cidr')
    throw inOthersBlock(core, text, pool, 'blocks of this pool lend nothing');
  await borrowAddress(core, pool, text, signal);
}

async function borrowAddress(core: Core, pool: Pool, address: string, signal: AbortSignal): Promise<void> {
  const block = ownerBlock(core, address);
  if (block === undefined)
    throw inOthersBlock(core, address, pool, 'its block is nobody’s, and cannot be claimed');
  const answer = await borrow(core, block, address, signal);
  if (answer.kind === 'lent') return;
  const why = answer.kind === 'refused' ? answer.why : 'which does not answer';
  throw inOthersBlock(core, address, pool, why);
}

const ownerBlock = ({ index, cache }: Core, address: string): string | undefined => {
  const parsed = parseAddress(address);
  const cidr = index.around(parsed);
  return cidr !== undefined && cache.blocks.get(cidr)?.value.node !== undefined ? cidr : undefined;
};

function inOthersBlock(core: Core, address: string, pool: Pool, why: string): PodwireError {
  const cidr = core.index.around(parseAddress(address));
  const node = cidr === undefined ? undefined : core.cache.blocks.get(cidr)?.value.node;
  const where = node === undefined ? '' : ` is in block ${cidr} of node ${node}`;
  return new PodwireError('ADDRESS_IN_USE', `${address} of pool ${pool.name}${where}: ${why}`, {
    details: { address, pool: pool.name, node, owner: node === undefined ? undefined : `node ${node}` },
  });
}

const keptByWorkload = (address: string, pool: Pool, workload: string): PodwireError =>
  new PodwireError('ADDRESS_IN_USE', `${address} of pool ${pool.name} is kept for workload ${workload}`, {
    details: { address, pool: pool.name, owner: `workload ${workload}` },
  });

async function provideAny(core: Core, need: Need, family: 4 | 6, signal: AbortSignal): Promise<void> {
  const pools = poolsFor(core, need, family);
  await core.turns(`${need.network} ${family}`).take(signal, async () => {
    core.trust.require();
    if (hasFree(core, need.network, pools)) return;
    for (const pool of pools.filter((each) => hasRoom(core, each))) {
      if ((await claimBlock(core, pool.name, undefined, signal)) === 'claimed') return;
    }
    // A claim of somebody else has come, where there was no room for one of ours.
    if (hasFree(core, need.network, pools)) return;
    const lenders = pools.filter(
      (pool) => pool.borrowing && pool.allocation === 'blocks' && hasRoom(core, pool),
    );
    if (lenders.length > 0 && (await borrowAny(core, lenders, signal)).kind === 'lent') return;
    throw exhausted(core, need, family, pools);
  });
}

/** In the order in which IPAM takes them. */
function poolsFor(core: Core, need: Need, family: 4 | 6): Pool[] {
  const names = need.pools === undefined || need.pools.length === 0 ? undefined : new Set(need.pools);
  return poolsOf(core, need.network).filter(
    (pool) =>
      familyOf(pool) === family &&
      isUsable(core, pool) &&
      (names === undefined ? pool.assignment === 'automatic' : names.has(pool.name) || names.has(pool.cidr)),
  );
}

/** Somebody else has provided what serves this one too. */
function hasFree(core: Core, network: string, pools: readonly Pool[]): boolean {
  const names = new Set(pools.map(({ name }) => name));
  return (
    wholeStock(core, pools).length > 0 ||
    freeAddresses(core, network, names) > 0 ||
    core.book.stock().some((held) => {
      const pool = held.lender === undefined ? undefined : poolAround(core, held.prefix.address);
      return pool !== undefined && names.has(pool.name);
    })
  );
}

function exhausted(core: Core, need: Need, family: 4 | 6, pools: readonly Pool[]): PodwireError {
  const parts = pools.map((pool) => {
    if (isTaken(core, pool)) return `pool ${pool.name} (${pool.cidr}) is taken whole: see this node's status`;
    const full = core.index.free(pool.name) === 0 ? 'has no free block' : 'has free blocks';
    const limit = hasRoom(core, pool) ? '' : `, and this node has as many as it may (${limitOf(pool)})`;
    const lending = pool.borrowing ? ', and no other node that was asked lends an address' : '';
    return `pool ${pool.name} (${pool.cidr}) ${full}${limit || lending}`;
  });
  if (parts.length === 0) parts.push('no pool that is enabled and selects this node');
  return new PodwireError(
    'POOL_EXHAUSTED',
    `no free IPv${family} address for network ${need.network}: ${parts.join('; ')}`,
    { details: { network: need.network, family, pools: pools.map(({ name }) => name) } },
  );
}

const limitOf = (pool: Pool): number => (pool.allocation === 'node-cidr' ? 1 : (pool.maxBlocksPerNode ?? 0));
