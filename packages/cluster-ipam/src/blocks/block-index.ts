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
import { type AddressRange, FreeBlocks, readPool } from '@podwire/ipam';

interface PoolEntry {
  readonly pool: Pool;
  readonly free: FreeBlocks;
  readonly skip: (block: Prefix) => number;
  /** Blocks without an owner, of which some addresses are borrowed: they can be claimed. */
  readonly ownerless: Set<string>;
  readonly blocks: Set<string>;
}

const none: ReadonlySet<string> = new Set();

export class BlockIndex {
  readonly #cache: Pick<ClusterCache, 'pools' | 'blocks'>;
  readonly #entries = new Map<string, PoolEntry>();
  /** Blocks of the entries. */
  readonly #known = new Map<string, Prefix>();
  /** How many known blocks have each length. */
  readonly #lengths = new Map<number, number>();

  constructor(cache: Pick<ClusterCache, 'pools' | 'blocks'>) {
    this.#cache = cache;
  }

  take({ pools, blocks }: Pick<CacheChange, 'pools' | 'blocks'>): void {
    for (const name of pools) this.#takePool(name);
    for (const cidr of blocks) this.#takeBlock(cidr);
  }

  /** The block to claim: without an owner, not in `except`, and not within one of `taken`. */
  choose(
    pool: string,
    start: number,
    except: Pick<ReadonlySet<string>, 'has'>,
    taken: readonly Prefix[] = [],
  ): string | undefined {
    const entry = this.#entries.get(pool);
    if (entry === undefined) return undefined;
    const ranges = taken.map(rangeOf);
    const skip = (block: Prefix): number =>
      entry.skip(block) || skipWithin(ranges, block) || (except.has(formatPrefix(block)) ? 1 : 0);
    const block = entry.free.next(start, skip);
    if (block !== undefined) return formatPrefix(block);
    const isTaken = (cidr: string): boolean => skipWithin(ranges, parsePrefix(cidr)) > 0;
    return [...entry.ownerless].find((cidr) => !except.has(cidr) && !isTaken(cidr));
  }

  /** Reports if any block, of whatever size, has addresses of this one. */
  isTouched(pool: string, block: Prefix): boolean {
    return this.#entries.get(pool)?.free.isFree(block) === false;
  }

  /** How many blocks can be claimed. */
  free(pool: string): number {
    const entry = this.#entries.get(pool);
    return entry === undefined ? 0 : entry.free.free + entry.ownerless.size;
  }

  /** The block that the address lies in, of whatever size. */
  around(address: Address): string | undefined {
    for (const [length, count] of this.#lengths) {
      if (count === 0 || length > addressBits(address.family)) continue;
      const cidr = formatPrefix(prefixOf(address, length));
      if (this.#known.has(cidr)) return cidr;
    }
    return undefined;
  }

  /** All blocks of the pool that there are. */
  blocks(pool: string): ReadonlySet<string> {
    return this.#entries.get(pool)?.blocks ?? none;
  }

  #takePool(name: string): void {
    const pool = this.#cache.pools.get(name)?.value;
    const before = this.#entries.get(name);
    if (pool !== undefined && before !== undefined && sameShape(pool, before.pool)) return;
    this.#entries.delete(name);
    if (pool === undefined) return;
    const entry = createEntry(pool);
    this.#entries.set(name, entry);
    for (const [cidr, block] of this.#known) this.#addTo(entry, cidr, block);
  }

  #takeBlock(cidr: string): void {
    const before = this.#known.get(cidr);
    const isThere = this.#cache.blocks.has(cidr);
    const prefix = before ?? parsePrefix(cidr);
    for (const entry of this.#entries.values()) {
      if (!overlaps(entry.free.prefix, prefix)) continue;
      entry.ownerless.delete(cidr);
      entry.blocks.delete(cidr);
      if (before !== undefined) entry.free.giveBack(prefix);
      if (isThere) this.#addTo(entry, cidr, prefix);
    }
    if (isThere) this.#known.set(cidr, prefix);
    else this.#known.delete(cidr);
    if (isThere !== (before !== undefined))
      this.#lengths.set(prefix.length, (this.#lengths.get(prefix.length) ?? 0) + (isThere ? 1 : -1));
  }

  #addTo(entry: PoolEntry, cidr: string, block: Prefix): void {
    if (!overlaps(entry.free.prefix, block)) return;
    entry.free.take(block);
    if (!containsPrefix(entry.free.prefix, block)) return;
    entry.blocks.add(cidr);
    const held = this.#cache.blocks.get(cidr)?.value;
    if (held !== undefined && held.node === undefined) entry.ownerless.add(cidr);
  }
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
