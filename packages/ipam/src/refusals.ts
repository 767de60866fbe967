/** The errors of allocation. Each names pools, owners and numbers, so that the reader needs no second command. */
import { type Address, embeddedIPv4, type Family, formatAddress } from '@podwire/addresses';
import { PodwireError } from '@podwire/errors';
import type { Slot } from './block.js';
import { formatSlot } from './block.js';
import type { Lease, BorrowedAddress } from './contract.js';
import type { PoolSpace } from './pool-space.js';
import { describePool, isOffered, type Wanted } from './request.js';
import type { Stopwatch } from './stopwatch.js';

export function addressInUse(address: string, pool: string, owner: string): PodwireError {
  return new PodwireError('ADDRESS_IN_USE', `${address} of pool ${pool} belongs to ${owner}`, {
    details: { address, pool, owner },
  });
}

export function addressLent({ address, borrower }: BorrowedAddress, pool: string): PodwireError {
  return new PodwireError('ADDRESS_IN_USE', `${address} of pool ${pool} is lent to node ${borrower}`, {
    details: { address, pool, borrower },
  });
}

export function addressKept(slot: Slot, pool: string): PodwireError {
  const address = formatSlot(slot);
  const workload = slot.keptFor ?? '';
  return new PodwireError('ADDRESS_IN_USE', `${address} of pool ${pool} is kept for workload ${workload}`, {
    details: { address, pool, owner: `workload ${workload}` },
  });
}

export function blockUnknown(block: string): PodwireError {
  return new PodwireError('ADDRESS_NOT_IN_POOL', `${block} is no block of this node`, { details: { block } });
}

export function nothingToBorrow(block: string): PodwireError {
  return new PodwireError('POOL_EXHAUSTED', `no address of block ${block} is free`, { details: { block } });
}

export function cannotBorrow(address: string, why: string): PodwireError {
  return new PodwireError('ADDRESS_NOT_IN_POOL', `${address} cannot be lent: ${why}`, {
    details: { address },
  });
}

export function addressCooling(slot: Slot, pool: string, time: Stopwatch): PodwireError {
  const address = formatSlot(slot);
  const freeAt = wallTime(slot.rest.until, time);
  return new PodwireError(
    'ADDRESS_IN_USE',
    `${address} of pool ${pool} was released and is cooling down, ${describeWait(slot.rest.until, time)}`,
    { details: { address, pool, freeAt } },
  );
}

export function blockNotOwned(address: string, pool: string): PodwireError {
  return new PodwireError('ADDRESS_IN_USE', `${address} of pool ${pool} is in a block of another node`, {
    details: { address, pool },
  });
}

/** The pools named are those the request may use; `why` tells when one of them would have the address otherwise. */
export function addressNotInPool(address: Address, wanted: Wanted, why?: string): PodwireError {
  const text = formatAddress(address);
  const pools = wanted.spaces
    .filter(({ pool }) => pool.prefix.family === address.family)
    .map(({ pool }) => describePool(pool));
  const inner = embeddedIPv4(address);
  const hint = inner === undefined ? '' : `; for the IPv4 address write ${formatAddress(inner)}`;
  const where = pools.length === 0 ? `there is no IPv${address.family} pool` : pools.join(', ');
  const message = `${text} cannot be given: ${why ?? `it is in no pool (${where})`}${hint}`;
  return new PodwireError('ADDRESS_NOT_IN_POOL', message, { details: { address: text, pools } });
}

export function leasesDiffer(owner: string, held: readonly Lease[]): PodwireError {
  const addresses = held.map((lease) => lease.address);
  return new PodwireError(
    'ENDPOINT_EXISTS',
    `${owner} holds ${addresses.join(' and ')} already, which is not what is asked for now`,
    { details: { owner, addresses } },
  );
}

export function poolExhausted(family: Family | undefined, wanted: Wanted, time: Stopwatch): PodwireError {
  const kind = family === undefined ? 'IP' : `IPv${family}`;
  const spaces = wanted.spaces.filter(({ pool }) => family === undefined || pool.prefix.family === family);
  const enabled = spaces.filter((space) => isOffered(space, wanted.restricted));
  const manual = spaces.filter(({ pool }) => !pool.disabled && pool.assignment === 'manual');
  const disabled = spaces.filter(({ pool }) => pool.disabled).map(({ pool }) => describePool(pool));
  const parts = enabled.map((space) => describeSpace(space, time));
  if (parts.length === 0) parts.push(`no enabled pool has ${kind} addresses`);
  if (!wanted.restricted && manual.length > 0) {
    parts.push(`only for who asks for them: ${manual.map(({ pool }) => describePool(pool)).join(', ')}`);
  }
  if (disabled.length > 0) parts.push(`disabled: ${disabled.join(', ')}`);
  return new PodwireError('POOL_EXHAUSTED', `no free ${kind} address: ${parts.join('; ')}`, {
    details: { ...(family && { family }), ...countSpaces(enabled, time) },
  });
}

function describeSpace(space: PoolSpace, time: Stopwatch): string {
  const numbers = [
    `${space.size} addresses`,
    `${space.used} used`,
    `${space.reserved} reserved`,
    `${space.cooling} cooling`,
  ];
  if (space.lent > 0) numbers.push(`${space.lent} lent`);
  if (space.free > 0n) numbers.push(`${space.free} in blocks that this node cannot have`);
  if (space.firstRested !== undefined) numbers.push(`the first ${describeWait(space.firstRested, time)}`);
  return `pool ${describePool(space.pool)} has ${numbers.join(', ')}${describeTaken(space)}`;
}

/** So many are enough to see what the pool meets. */
const mostReasons = 3;

function describeTaken({ pool: { taken } }: PoolSpace): string {
  const reasons = [...new Set(taken.map(({ why }) => why))];
  if (reasons.length === 0) return '';
  const more = reasons.length > mostReasons ? ` and ${reasons.length - mostReasons} more` : '';
  return ` (${reasons.slice(0, mostReasons).join(', ')}${more})`;
}

function countSpaces(spaces: readonly PoolSpace[], time: Stopwatch): Record<string, number | string[]> {
  const sum = (count: (space: PoolSpace) => number | bigint): number =>
    spaces.reduce((total, space) => total + Number(count(space)), 0);
  const rested = spaces.map((space) => space.firstRested).filter((at) => at !== undefined);
  return {
    pools: spaces.map(({ pool }) => describePool(pool)),
    size: sum((space) => space.size),
    used: sum((space) => space.used),
    reserved: sum((space) => space.reserved),
    cooling: sum((space) => space.cooling),
    ...(rested.length > 0 && { freeAt: wallTime(Math.min(...rested), time) }),
  };
}

/** Milliseconds since the epoch. */
function wallTime(elapsed: number, time: Stopwatch): number {
  return time.wall + elapsed - time.elapsed;
}

function describeWait(elapsed: number, time: Stopwatch): string {
  const seconds = (elapsed - time.elapsed) / 1000;
  return `free in ${seconds} s (${new Date(wallTime(elapsed, time)).toISOString()})`;
}
