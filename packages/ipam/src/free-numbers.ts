/** Numbers below a count, and which of them are taken: blocks of a pool, network ids. */

const wordBits = 32;
const full = 0xffff_ffff;

export class FreeNumbers {
  readonly count: number;
  /** Taken numbers, 32 to a word; what is not in it is free. */
  readonly #words = new Map<number, number>();
  #taken = 0;

  constructor(count: number) {
    this.count = count;
  }

  get free(): number {
    return this.count - this.#taken;
  }

  isFree(number: number): boolean {
    return ((this.#wordOf(number) >>> (number % wordBits)) & 1) === 0;
  }

  /** A number that is taken stays so. */
  take(number: number): void {
    if (this.isFree(number)) this.#flip(number, 1);
  }

  /** A number that is free stays so. */
  giveBack(number: number): void {
    if (!this.isFree(number)) this.#flip(number, -1);
  }

  /** The first free one at or behind `from`; undefined when there is none up to the end. Looks at 32 in a step. */
  firstFrom(from: number): number | undefined {
    for (let at = from; at < this.count; at += wordBits - (at % wordBits)) {
      const bit = lowestZero(this.#wordOf(at), at % wordBits);
      if (bit === undefined) continue;
      const found = at - (at % wordBits) + bit;
      return found < this.count ? found : undefined;
    }
    return undefined;
  }

  /** The first free one from `start` on, around the end. */
  next(start: number): number | undefined {
    return this.firstFrom(start % this.count) ?? this.firstFrom(0);
  }

  #wordOf(number: number): number {
    return this.#words.get(Math.floor(number / wordBits)) ?? 0;
  }

  #flip(number: number, change: 1 | -1): void {
    const word = (this.#wordOf(number) ^ (1 << (number % wordBits))) >>> 0;
    const at = Math.floor(number / wordBits);
    if (word === 0) this.#words.delete(at);
    else this.#words.set(at, word);
    this.#taken += change;
  }
}

function lowestZero(word: number, from: number): number | undefined {
  if (word === full) return undefined;
  const zeros = ~word & (-1 << from);
  return zeros === 0 ? undefined : 31 - Math.clz32(zeros & -zeros);
}
