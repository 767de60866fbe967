/** An item that fits in a {@link Fifo}: it is in at most one at a time. */
export interface Linked<T> {
  before: T | undefined;
  behind: T | undefined;
}

/** A queue out of which anything can be taken in constant time. The links are in the items themselves. */
export class Fifo<T extends Linked<T>> {
  #head: T | undefined;
  #tail: T | undefined;
  #size = 0;

  get head(): T | undefined {
    return this.#head;
  }

  get size(): number {
    return this.#size;
  }

  append(item: T): void {
    item.before = this.#tail;
    if (this.#tail === undefined) this.#head = item;
    else this.#tail.behind = item;
    this.#tail = item;
    this.#size++;
  }

  /** Puts it before the first item that belongs behind it. */
  insert(item: T, belongsBehind: (other: T) => boolean): void {
    let other = this.#head;
    while (other !== undefined && !belongsBehind(other)) other = other.behind;
    if (other === undefined) {
      this.append(item);
      return;
    }
    item.behind = other;
    item.before = other.before;
    if (other.before === undefined) this.#head = item;
    else other.before.behind = item;
    other.before = item;
    this.#size++;
  }

  /** The item must be in this queue. */
  remove(item: T): void {
    if (item.before === undefined) this.#head = item.behind;
    else item.before.behind = item.behind;
    if (item.behind === undefined) this.#tail = item.before;
    else item.behind.before = item.before;
    item.before = item.behind = undefined;
    this.#size--;
  }
}
