/** The free blocks of a pool, updated block by block: a claim must not look at all of them. */
import { type Address, addressAt, addressBits, type Prefix, prefixOf } from '@podwire/addresses';

/**
 * Of very large IPv6 pools only so many blocks are used: no cluster has more, and their numbers fit into a JavaScript number.
 */
const mostBlocks = 2 ** 40;
const wordBits = 32;
const full = 0xffff_ffff;

export class FreeBlocks {
  readonly prefix: Prefix;
  readonly blockSize: number;
  readonly #count: number;
  /** How many known blocks share addresses with block n; blocks of other sizes exist where pools were cut anew. */
  readonly #sharers = new Map<number, number>();
  /** Taken blocks, 32 to a number; what is not in it is free. */
  readonly #words = new Map<number, number>();

  constructor(prefix: Prefix, blockSize: number) {
    this.prefix = prefix;
    this.blockSize = blockSize;
    this.#count = Math.min(2 ** (blockSize - prefix.length), mostBlocks);
  }

  get free(): number {
    return this.#count - this.#sharers.size;
  }

  take(block: Prefix): void {
    this.#forEach(block, (index) => {
      const sharers = (this.#sharers.get(index) ?? 0) + 1;
      this.#sharers.set(index, sharers);
      if (sharers === 1) this.#mark(index, true);
    });
  }

  giveBack(block: Prefix): void {
    this.#forEach(block, (index) => {
      const sharers = (this.#sharers.get(index) ?? 0) - 1;
      if (sharers > 0) this.#sharers.set(index, sharers);
      else if (this.#sharers.delete(index)) this.#mark(index, false);
    });
  }

  isFree(block: Prefix): boolean {
    return !this.#sharers.has(this.#indexOf(block.address));
  }

  /**
   * The first free block from `start` on, around the end.
   * @param start of any size
   * @param skip says of a block that cannot be used how many blocks from there cannot either; 0: it can be used
   */
  next(start: number, skip: (block: Prefix) => number): Prefix | undefined {
    for (let done = 0, at = start % this.#count; done < this.#count;) {
      const index = this.#firstFree(at);
      // The blocks in between were looked at, and the rest up to the end when there is none.
      done += (index ?? this.#count) - at;
      if (done >= this.#count) return undefined;
      if (index === undefined) {
        at = 0;
        continue;
      }
      const block = this.#blockAt(index);
      const skipped = skip(block);
      if (skipped === 0) return block;
      done += skipped;
      at = index + skipped >= this.#count ? 0 : index + skipped;
    }
    return undefined;
  }

  /** The number of the first free block at or behind `from`. Looks at 32 blocks in a step. */
  #firstFree(from: number): number | undefined {
    for (let index = from; index < this.#count;) {
      const word = this.#words.get(Math.floor(index / wordBits)) ?? 0;
      if (word !== full) {
        const free = lowestZero(word, index % wordBits);
        if (free !== undefined) {
          const found = index - (index % wordBits) + free;
          return found < this.#count ? found : undefined;
        }
      }
      index += wordBits - (index % wordBits);
    }
    return undefined;
  }

  #mark(index: number, taken: boolean): void {
    const at = Math.floor(index / wordBits);
    const bit = 2 ** (index % wordBits);
    const word = (this.#words.get(at) ?? 0) + (taken ? bit : -bit);
    if (word === 0) this.#words.delete(at);
    else this.#words.set(at, word);
  }

  #forEach(block: Prefix, visit: (index: number) => void): void {
    const first = this.#indexOf(block.address);
    const span = block.length >= this.blockSize ? 1 : 2 ** (this.blockSize - block.length);
    for (let index = first; index < Math.min(first + span, this.#count); index++) visit(index);
  }

  #indexOf(address: Address): number {
    const bits = BigInt(addressBits(address.family) - this.blockSize);
    return Number((address.value - this.prefix.address.value) >> bits);
  }

  #blockAt(index: number): Prefix {
    const bits = BigInt(addressBits(this.prefix.family) - this.blockSize);
    return prefixOf(addressAt(this.prefix.address, BigInt(index) << bits), this.blockSize);
  }
}

function lowestZero(word: number, from: number): number | undefined {
  for (let bit = from; bit < wordBits; bit++) if (Math.floor(word / 2 ** bit) % 2 === 0) return bit;
  return undefined;
}

/** Where a node begins to look: FNV-1a of its name, so that nodes that start together do not meet. */
export function startOf(node: string): number {
  let hash = 0x811c_9dc5;
  for (const byte of Buffer.from(node)) hash = Math.imul(hash ^ byte, 0x0100_0193) >>> 0;
  return hash;
}
