/** A binary heap: the first of thousands of items without looking at all of them. */
export class Heap<T> {
  readonly #isBefore: (a: T, b: T) => boolean;
  #items: T[] = [];

  constructor(isBefore: (a: T, b: T) => boolean) {
    this.#isBefore = isBefore;
  }

  get size(): number {
    return this.#items.length;
  }

  get first(): T | undefined {
    return this.#items[0];
  }

  push(item: T): void {
    this.#items.push(item);
    this.#rise(this.#items.length - 1, item);
  }

  pop(): T | undefined {
    const first = this.#items[0];
    const last = this.#items.pop();
    if (this.#items.length > 0) this.#sink(0, last!);
    return first;
  }

  /** Drops every item that `keep` refuses, in linear time. */
  retain(keep: (item: T) => boolean): void {
    this.#items = this.#items.filter(keep);
    for (let at = (this.#items.length >> 1) - 1; at >= 0; at--) this.#sink(at, this.#items[at]!);
  }

  #rise(from: number, item: T): void {
    let at = from;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#isBefore(item, this.#items[parent]!)) break;
      this.#items[at] = this.#items[parent]!;
      at = parent;
    }
    this.#items[at] = item;
  }

  #sink(from: number, item: T): void {
    let at = from;
    for (let child = this.#firstChild(at); child !== undefined; child = this.#firstChild(at)) {
      if (!this.#isBefore(this.#items[child]!, item)) break;
      this.#items[at] = this.#items[child]!;
      at = child;
    }
    this.#items[at] = item;
  }

  #firstChild(at: number): number | undefined {
    const [left, right] = [2 * at + 1, 2 * at + 2];
    if (left >= this.#items.length) return undefined;
    return right < this.#items.length && this.#isBefore(this.#items[right]!, this.#items[left]!)
      ? right
      : left;
  }
}
