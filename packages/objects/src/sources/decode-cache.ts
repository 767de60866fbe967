import type { Item } from '@podwire/store';

interface Entry<T> {
  readonly item: Item;
  readonly decoded: T;
}

/** Keeps what it has decoded until the next time: checking 10,000 objects takes a second, and few of them have changed. */
export class DecodeCache<T> {
  #known: ReadonlyMap<string, Entry<T>> = new Map();

  /** @param items all there are: others are forgotten */
  decode(items: readonly Item[], decodeOne: (item: Item) => T): readonly T[] {
    const entries = items.map((item) => this.#find(item) ?? { item, decoded: decodeOne(item) });
    this.#known = new Map(entries.map((entry) => [entry.item.key, entry]));
    return entries.map(({ decoded }) => decoded);
  }

  /** The text is compared, too: a store that was restored from a backup counts its revisions again. */
  #find({ key, revision, value }: Item): Entry<T> | undefined {
    const known = this.#known.get(key);
    return known?.item.revision === revision && known.item.value === value ? known : undefined;
  }
}
