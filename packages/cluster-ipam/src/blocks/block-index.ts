/** The free blocks of all pools, following the cache of the cluster. */
import {
  type Address,
  addressBits,
  containsPrefix,
  type Family,
  formatPrefix,
  lastAddress,
  overlaps,
  parsePrefix,
  type Prefix,
  prefixOf,
} from '@podwire/addresses';
import type { ClusterCache, CacheChange, Pool } from '@podwire/cluster-state';
import { type AddressRange, readPool } from '@podwire/ipam';
import { FreeBlocks } from './free-blocks.js';

interface PoolEntry {
  readonly pool: Pool;
  readonly free: FreeBlocks;
  readonly skip: (block: Prefix) => number;
  /** Blocks without an owner, of which some addresses are borrowed: they can be claimed. */
  readonly ownerless: Set<string>;
  readonly blocks: Set<string>;
}

export interface BlockIndex {
  take(change: Pick<CacheChange, 'pools' | 'blocks'>): void;
  /** The block to claim: without an owner, not in `except`, and not within one of `taken`. */
  choose(
    pool: string,
    start: number,
    except: Pick<ReadonlySet<string>, 'has'>,
    taken?: readonly Prefix[],
  ): string | undefined;
  /** Whether any block, of whatever size, has addresses of this one. */
  isTouched(pool: string, block: Prefix): boolean;
  /** How many blocks can be claimed. */
  free(pool: string): number;
  /** The block that the address lies in, of whatever size. */
  around(address: Address): string | undefined;
  /** All blocks of the pool that there are. */
  blocks(pool: string): ReadonlySet<string>;
}

const none: ReadonlySet<string> = new Set();

export function createBlockIndex(cache: Pick<ClusterCache, 'pools' | 'blocks'>): BlockIndex {
  const entries = new Map<string, PoolEntry>();
  /** What the entries know. */
  const known = new Map<string, Prefix>();

  const lengths = new Map<number, number>();

  function takePool(name: string): void {
    const pool = cache.pools.get(name)?.value;
    const before = entries.get(name);
    if (pool !== undefined && before !== undefined && sameShape(pool, before.pool)) return;
    entries.delete(name);
    if (pool === undefined) return;
    const entry = createEntry(pool);
    entries.set(name, entry);
    for (const [cidr, block] of known) addTo(entry, cidr, block);
  }

  function addTo(entry: PoolEntry, cidr: string, block: Prefix): void {
    if (!overlaps(entry.free.prefix, block)) return;
    entry.free.take(block);
    if (!containsPrefix(entry.free.prefix, block)) return;
    entry.blocks.add(cidr);
    if (isOwnerless(cidr)) entry.ownerless.add(cidr);
  }

  const isOwnerless = (cidr: string): boolean => {
    const block = cache.blocks.get(cidr)?.value;
    return block !== undefined && block.node === undefined;
  };

  function takeBlock(cidr: string): void {
    const before = known.get(cidr);
    const isThere = cache.blocks.has(cidr);
    const prefix = before ?? parsePrefix(cidr);
    for (const entry of entries.values()) {
      if (!overlaps(entry.free.prefix, prefix)) continue;
      entry.ownerless.delete(cidr);
      entry.blocks.delete(cidr);
      if (before !== undefined) entry.free.giveBack(prefix);
      if (isThere) addTo(entry, cidr, prefix);
    }
    if (isThere) known.set(cidr, prefix);
    else known.delete(cidr);
    if (isThere !== (before !== undefined))
      lengths.set(prefix.length, (lengths.get(prefix.length) ?? 0) + (isThere ? 1 : -1));
  }

  return {
    take(change) {
      for (const name of change.pools) takePool(name);
      for (const cidr of change.blocks) takeBlock(cidr);
    },
    choose(name, start, except, taken = []) {
      const entry = entries.get(name);
      if (entry === undefined) return undefined;
      const ranges = taken.map(rangeOf);
      const skip = (block: Prefix): number =>
        entry.skip(block) || skipWithin(ranges, block) || (except.has(formatPrefix(block)) ? 1 : 0);
      const block = entry.free.next(start, skip);
      if (block !== undefined) return formatPrefix(block);
      const isTaken = (cidr: string): boolean => skipWithin(ranges, parsePrefix(cidr)) > 0;
      return [...entry.ownerless].find((cidr) => !except.has(cidr) && !isTaken(cidr));
    },
    isTouched: (name, block) => entries.get(name)?.free.isFree(block) === false,
    free: (name) => (entries.get(name)?.free.free ?? 0) + (entries.get(name)?.ownerless.size ?? 0),
    around(address) {
      for (const [length, count] of lengths) {
        if (count === 0 || length > addressBits(address.family)) continue;
        const cidr = formatPrefix(prefixOf(address, length));
        if (known.has(cidr)) return cidr;
      }
      return undefined;
    },
    blocks: (name) => entries.get(name)?.blocks ?? none,
  };
}

function createEntry(pool: Pool): PoolEntry {
  const { prefix, blockSize, reserved } = readPool(pool);
  const { family } = prefix;
  const ranges = reserved.map((range) => ({ ...range, family }));
  const skip = (block: Prefix): number => skipWithin(ranges, block);
  return { pool, free: new FreeBlocks(prefix, blockSize), skip, ownerless: new Set(), blocks: new Set() };
}

const sameShape = (a: Pool, b: Pool): boolean =>
  a.cidr === b.cidr &&
  a.blockSize === b.blockSize &&
  JSON.stringify(a.reserved) === JSON.stringify(b.reserved);

interface FamilyRange extends AddressRange {
  readonly family: Family;
}

const rangeOf = (prefix: Prefix): FamilyRange => ({
  family: prefix.family,
  first: prefix.address.value,
  last: lastAddress(prefix).value,
});

/** How many blocks from this one on lie in the same range, when it does from end to end; else 0. */
function skipWithin(ranges: readonly FamilyRange[], block: Prefix): number {
  const first = block.address.value;
  const last = lastAddress(block).value;
  const range = ranges.find(
    (each) => each.family === block.family && each.first <= first && each.last >= last,
  );
  return range === undefined ? 0 : Number((range.last + 1n - first) / (last + 1n - first));
}
