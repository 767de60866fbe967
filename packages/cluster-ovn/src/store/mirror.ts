/** Items below one prefix of a store, decoded: listed once, and kept by what is reported and written later. */
import type { Change, Item, Revision } from '@podwire/store';

interface Entry<T> {
  readonly item: Item;
  readonly decoded: T;
}

export interface Difference<T> {
  readonly key: string;
  /** Absent: it has come. */
  readonly before: T | undefined;
  /** Absent: it is gone. */
  readonly after: T | undefined;
}

export class Mirror<T> {
  readonly prefix: string;
  readonly #decode: (item: Item) => T;
  #entries = new Map<string, Entry<T>>();
  /** Own deletions that were not reported yet, by key: an older report must not bring the item back. */
  readonly #deleted = new Map<string, Revision>();
  /** Content at the last {@link takeDifferences}, by keys that have changed since. */
  #before = new Map<string, T | undefined>();

  /** @param decode never throws */
  constructor(prefix: string, decode: (item: Item) => T) {
    this.prefix = prefix;
    this.#decode = decode;
  }

  get(key: string): T | undefined {
    return this.#entries.get(key)?.decoded;
  }

  /** In the order of their keys. */
  list(isWanted: (decoded: T) => boolean = () => true): T[] {
    const entries = [...this.#entries.values()].filter(({ decoded }) => isWanted(decoded));
    entries.sort((a, b) => (a.item.key < b.item.key ? -1 : 1));
    return entries.map(({ decoded }) => decoded);
  }

  /** Everything anew. What has not changed is not decoded again. */
  begin(items: readonly Item[]): void {
    this.#entries = new Map(items.map((item) => [item.key, this.#find(item) ?? this.#read(item)]));
    this.#deleted.clear();
    this.#before.clear();
  }

  /**
   * Reports of the store, in its order. Those that are older than what is known are passed over.
   * @returns whether anything is other than before
   */
  apply(changes: readonly Change[]): boolean {
    const news = changes.filter((change) => this.#isNews(change));
    for (const change of news) this.#note(change);
    return news.length > 0;
  }

  /** An own write, before it is reported. */
  note(change: Change): void {
    if (change.type === 'delete') this.#deleted.set(change.key, change.revision);
    this.#note(change);
  }

  /** Since the last call, or since it was all listed. */
  takeDifferences(): Difference<T>[] {
    const before = [...this.#before];
    this.#before = new Map();
    const all = before.map(([key, content]) => ({ key, before: content, after: this.get(key) }));
    // An item that has come and gone meanwhile is no difference.
    return all.filter((one) => one.before !== undefined || one.after !== undefined);
  }

  #isNews(change: Change): boolean {
    const { key, revision } = change.type === 'put' ? change.item : change;
    const deleted = this.#deleted.get(key) ?? -1;
    if (revision >= deleted) this.#deleted.delete(key);
    return revision > Math.max(deleted, this.#entries.get(key)?.item.revision ?? -1);
  }

  #note(change: Change): void {
    const key = change.type === 'put' ? change.item.key : change.key;
    if (!this.#before.has(key)) this.#before.set(key, this.get(key));
    if (change.type === 'put') this.#entries.set(key, this.#read(change.item));
    else this.#entries.delete(key);
  }

  #read(item: Item): Entry<T> {
    return { item, decoded: this.#decode(item) };
  }

  /** The text is compared, too: a store that was restored from a backup counts its revisions again. */
  #find({ key, revision, value }: Item): Entry<T> | undefined {
    const known = this.#entries.get(key);
    return known?.item.revision === revision && known.item.value === value ? known : undefined;
  }
}
