/** Decodes objects of a store. */
import type { Item } from '@podwire/store';
import { decode, type Decoded } from './store-object.js';

interface Entry {
  readonly item: Item;
  readonly decoded: Decoded;
}

/** Keeps what it has decoded until the next time, since checking 10,000 objects takes a second, and few of them have changed. */
export class ObjectDecoder {
  #known: ReadonlyMap<string, Entry> = new Map();

  /** @param items all there are: others are forgotten */
  decode(root: string, items: readonly Item[]): readonly Decoded[] {
    const entries = items.map((item) => this.#find(item) ?? { item, decoded: decode(root, item) });
    this.#known = new Map(entries.map((entry) => [entry.item.key, entry]));
    return entries.map(({ decoded }) => decoded);
  }

  /** The text is compared, too: a store that was restored from a backup counts its revisions again. */
  #find({ key, revision, value }: Item): Entry | undefined {
    const known = this.#known.get(key);
    return known?.item.revision === revision && known.item.value === value ? known : undefined;
  }
}
