import {
  type Address,
  addressAt,
  addressBits,
  lastAddress,
  overlaps,
  type Prefix,
  prefixOf,
} from '@podwire/addresses';
import type { BlockSource, Pool } from './contract.js';
import { rangeOf, rangesWithin } from './ranges.js';

/**
 * All blocks of all pools belong to this node: the first free one in order is claimed. Remembers what was claimed and
 * nothing else, so a pool may be of any size.
 */
export function createLocalBlockSource(): BlockSource {
  const taken = createTakenBlocks();
  /** No block before this one is free. A pool that changes is another one here: it may have fewer reserved ranges. */
  const starts = new WeakMap<Pool, bigint>();
  return {
    claim(pool, holding) {
      const start = starts.get(pool) ?? 0n;
      const index = holding === undefined ? nextIndex(pool, start, taken) : indexOf(pool, holding.value);
      const block = index === undefined ? undefined : blockAt(pool, index);
      if (holding === undefined) starts.set(pool, index ?? countBlocks(pool));
      if (block === undefined || taken.around(block) !== undefined) return undefined;
      taken.add(block);
      return block;
    },
    giveBack(pool, block) {
      taken.delete(block);
      const index = indexOf(pool, block.address.value);
      if (index < (starts.get(pool) ?? 0n)) starts.set(pool, index);
    },
  };
}

interface TakenBlocks {
  add(block: Prefix): void;
  delete(block: Prefix): void;
  /** One that shares addresses with this prefix; blocks may be of several sizes, when pools were cut anew. */
  around(block: Prefix): Prefix | undefined;
}

function createTakenBlocks(): TakenBlocks {
  /** By family and length, then by first address. */
  const taken = new Map<string, Map<bigint, Prefix>>();
  const sizeOf = ({ family, length }: Prefix): string => `${family}/${length}`;
  const shares = (blocks: ReadonlyMap<bigint, Prefix>, block: Prefix): Prefix | undefined => {
    const [sample] = blocks.values();
    if (sample === undefined || sample.family !== block.family) return undefined;
    if (sample.length <= block.length)
      return blocks.get(prefixOf(block.address, sample.length).address.value);
    return [...blocks.values()].find((other) => overlaps(block, other));
  };
  return {
    add(block) {
      const known = taken.get(sizeOf(block));
      if (known === undefined) taken.set(sizeOf(block), new Map([[block.address.value, block]]));
      else known.set(block.address.value, block);
    },
    delete: (block) => void taken.get(sizeOf(block))?.delete(block.address.value),
    around(block) {
      for (const blocks of taken.values()) {
        const found = shares(blocks, block);
        if (found !== undefined) return found;
      }
      return undefined;
    },
  };
}

/** Moves on to the first block that is not taken and has an address that may be handed out. */
function nextIndex(pool: Pool, start: bigint, taken: TakenBlocks): bigint | undefined {
  const count = countBlocks(pool);
  for (let index = start; index < count;) {
    const block = blockAt(pool, index);
    const beyond = endOfReservation(pool, block) ?? endOfTaken(taken.around(block), block);
    if (beyond === undefined) return index;
    index = indexOf(pool, beyond);
  }
  return undefined;
}

/** The number after the taken block, but at least after the one that was looked at. */
function endOfTaken(taken: Prefix | undefined, block: Prefix): bigint | undefined {
  if (taken === undefined) return undefined;
  const [one, other] = [lastAddress(taken).value, lastAddress(block).value];
  return (one > other ? one : other) + 1n;
}

/** The number after the reserved range that covers the block whole; reserved ranges may be very long. */
function endOfReservation(pool: Pool, block: Prefix): bigint | undefined {
  const bounds = rangeOf(block);
  const [range] = rangesWithin(pool.reserved, bounds);
  const covered = range !== undefined && range.first <= bounds.first && range.last >= bounds.last;
  return covered ? range.last + 1n : undefined;
}

function countBlocks(pool: Pool): bigint {
  return 1n << BigInt(pool.blockSize - pool.prefix.length);
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
