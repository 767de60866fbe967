/** Recent changes, so that an interrupted watch can resume. */
import type { Change, Revision } from '../contract.js';

export interface Entry {
  readonly revision: Revision;
  readonly changes: readonly Change[];
}

export class History {
  readonly #length: number;
  #entries: Entry[] = [];
  /** Everything after this revision is still known. */
  #forgotten: Revision = 0;

  /** @param length how many transactions are kept at least; twice as many at most */
  constructor(length: number) {
    this.#length = length;
  }

  add(entry: Entry): void {
    this.#entries.push(entry);
    // Cut in halves: the price of a cut is spread over as many writes.
    if (this.#entries.length > 2 * this.#length) this.#cut(this.#length);
  }

  forget(): void {
    this.#cut(0);
  }

  /** In order; `undefined` when some of it is forgotten. Costs what it returns and the search for its beginning. */
  after(revision: Revision): readonly Entry[] | undefined {
    if (revision < this.#forgotten) return undefined;
    let low = 0;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#entries[middle]?.revision ?? 0) <= revision) low = middle + 1;
      else high = middle;
    }
    return this.#entries.slice(low);
  }

  #cut(keep: number): void {
    const cut = this.#entries.length - keep;
    this.#forgotten = this.#entries[cut - 1]?.revision ?? this.#forgotten;
    this.#entries = this.#entries.slice(cut);
  }
}
