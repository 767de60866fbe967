/** The free blocks of a pool, updated block by block: a claim must not look at all of them. */
import { type Address, addressAt, addressBits, type Prefix, prefixOf } from '@podwire/addresses';
import { FreeNumbers } from './free-numbers.js';

/**
 * Of very large IPv6 pools only so many blocks are used: no cluster has more, and their numbers fit into a JavaScript number.
 */
const mostBlocks = 2 ** 40;

/** In which order blocks are looked at: a permutation of their numbers, which count them by address. */
export interface BlockOrder {
  readonly placeOf: (block: number) => number;
  readonly blockAt: (place: number) => number;
}

const byAddress: BlockOrder = { placeOf: (block) => block, blockAt: (place) => place };

export class FreeBlocks {
  readonly prefix: Prefix;
  readonly blockSize: number;
  readonly #order: BlockOrder;
  readonly #places: FreeNumbers;
  /** How many known blocks share addresses with a place; blocks of other sizes exist where pools were cut anew. */
  readonly #sharers = new Map<number, number>();

  constructor(prefix: Prefix, blockSize: number, order = byAddress) {
    this.prefix = prefix;
    this.blockSize = blockSize;
    this.#order = order;
    this.#places = new FreeNumbers(Math.min(2 ** (blockSize - prefix.length), mostBlocks));
  }

  get free(): number {
    return this.#places.free;
  }

  take(block: Prefix): void {
    this.#forEach(block, (place) => {
      this.#sharers.set(place, (this.#sharers.get(place) ?? 0) + 1);
      this.#places.take(place);
    });
  }

  giveBack(block: Prefix): void {
    this.#forEach(block, (place) => {
      const sharers = (this.#sharers.get(place) ?? 0) - 1;
      if (sharers > 0) this.#sharers.set(place, sharers);
      else if (this.#sharers.delete(place)) this.#places.giveBack(place);
    });
  }

  isFree(block: Prefix): boolean {
    return this.#places.isFree(this.placeOf(block));
  }

  /** Where in the order of the search the block lies. */
  placeOf({ address }: Pick<Prefix, 'address'>): number {
    return this.#order.placeOf(this.#numberOf(address));
  }

  /**
   * The first free block from the place `start` on, around the end.
   * @param start of any size
   * @param skip says of a block that cannot be used how many places from there cannot either; 0: it can be used
   */
  next(start: number, skip: (block: Prefix) => number = () => 0): Prefix | undefined {
    const { count } = this.#places;
    for (let done = 0, at = start % count; done < count;) {
      const place = this.#places.firstFrom(at);
      // The places in between were looked at, and the rest up to the end when there is none.
      done += (place ?? count) - at;
      if (done >= count) return undefined;
      if (place === undefined) {
        at = 0;
        continue;
      }
      const block = this.#blockAt(place);
      const skipped = skip(block);
      if (skipped === 0) return block;
      done += skipped;
      at = place + skipped >= count ? 0 : place + skipped;
    }
    return undefined;
  }

  #forEach(block: Prefix, visit: (place: number) => void): void {
    const first = this.#numberOf(block.address);
    const span = block.length >= this.blockSize ? 1 : 2 ** (this.blockSize - block.length);
    const end = Math.min(first + span, this.#places.count);
    for (let number = Math.max(first, 0); number < end; number++) visit(this.#order.placeOf(number));
  }

  #numberOf(address: Address): number {
    const bits = BigInt(addressBits(address.family) - this.blockSize);
    return Number((address.value - this.prefix.address.value) >> bits);
  }

  #blockAt(place: number): Prefix {
    const bits = BigInt(addressBits(this.prefix.family) - this.blockSize);
    const number = BigInt(this.#order.blockAt(place));
    return prefixOf(addressAt(this.prefix.address, number << bits), this.blockSize);
  }
}
