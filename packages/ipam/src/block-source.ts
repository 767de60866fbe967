import { type Address, addressAt, addressBits, type Prefix, prefixOf } from '@podwire/addresses';
import type { BlockSource, Pool } from './contract.js';
import { rangeOf, rangesWithin } from './ranges.js';

interface Claims {
  /** No block before this one is free. */
  next: bigint;
  readonly taken: Set<bigint>;
}

/**
 * All blocks of all pools belong to this node: the first free one in order is claimed. Remembers what was claimed and
 * nothing else, so a pool may be of any size.
 */
export function createLocalBlockSource(): BlockSource {
  const claims = new Map<string, Claims>();
  const claimsOf = (pool: Pool): Claims => {
    const known = claims.get(pool.cidr) ?? { next: 0n, taken: new Set() };
    claims.set(pool.cidr, known);
    return known;
  };
  return {
    claim(pool, holding) {
      const { taken } = claimsOf(pool);
      const index = holding === undefined ? nextIndex(pool, claimsOf(pool)) : indexOf(pool, holding.value);
      if (index === undefined || taken.has(index)) return undefined;
      taken.add(index);
      return blockAt(pool, index);
    },
    giveBack(pool, block) {
      const known = claimsOf(pool);
      const index = indexOf(pool, block.address.value);
      known.taken.delete(index);
      if (index < known.next) known.next = index;
    },
  };
}

/** Moves on to the first block that is not taken and has an address that may be handed out. */
function nextIndex(pool: Pool, claims: Claims): bigint | undefined {
  const count = 1n << BigInt(pool.blockSize - pool.prefix.length);
  while (claims.next < count) {
    const beyond = endOfReservation(pool, blockAt(pool, claims.next));
    if (beyond !== undefined) claims.next = indexOf(pool, beyond);
    else if (claims.taken.has(claims.next)) claims.next++;
    else return claims.next;
  }
  return undefined;
}

/** The number after the reserved range that covers the block whole; reserved ranges may be very long. */
function endOfReservation(pool: Pool, block: Prefix): bigint | undefined {
  const bounds = rangeOf(block);
  const [range] = rangesWithin(pool.reserved, bounds);
  const covered = range !== undefined && range.first <= bounds.first && range.last >= bounds.last;
  return covered ? range.last + 1n : undefined;
}

function freeBits(pool: Pool): bigint {
  return BigInt(addressBits(pool.prefix.family) - pool.blockSize);
}

function indexOf(pool: Pool, value: Address['value']): bigint {
  return (value - pool.prefix.address.value) >> freeBits(pool);
}

function blockAt(pool: Pool, index: bigint): Prefix {
  return prefixOf(addressAt(pool.prefix.address, index << freeBits(pool)), pool.blockSize);
}
