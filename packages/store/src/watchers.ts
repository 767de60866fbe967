/** Distributes changes to watchers by prefix. Watchers whose prefix does not match cost nothing. */
import type { Change, Revision, WatchBatch } from './contract.js';

export const keyOf = (change: Change): string => (change.type === 'put' ? change.item.key : change.key);

/** The changes below the prefix, by transaction. */
export const toBatches = (
  news: readonly { readonly revision: Revision; readonly changes: readonly Change[] }[],
  prefix: string,
): readonly WatchBatch[] =>
  news.flatMap(({ revision, changes }): readonly WatchBatch[] => {
    const those = changes.filter((change) => keyOf(change).startsWith(prefix));
    return those.length === 0 ? [] : [{ type: 'changes', changes: those, revision }];
  });

export interface Watcher {
  readonly prefix: string;
  deliver(batch: WatchBatch): void;
}

export class Watchers {
  readonly #byPrefix = new Map<string, Set<Watcher>>();
  /** The number of prefixes of each length: a key is looked up once for each length. */
  readonly #lengths = new Map<number, number>();

  add(watcher: Watcher): void {
    const { prefix } = watcher;
    const those = this.#byPrefix.get(prefix);
    if (those !== undefined) {
      those.add(watcher);
      return;
    }
    this.#byPrefix.set(prefix, new Set([watcher]));
    this.#lengths.set(prefix.length, (this.#lengths.get(prefix.length) ?? 0) + 1);
  }

  delete(watcher: Watcher): void {
    const { prefix } = watcher;
    const those = this.#byPrefix.get(prefix);
    if (those?.delete(watcher) !== true || those.size > 0) return;
    this.#byPrefix.delete(prefix);
    const left = (this.#lengths.get(prefix.length) ?? 1) - 1;
    if (left === 0) this.#lengths.delete(prefix.length);
    else this.#lengths.set(prefix.length, left);
  }

  deliver(changes: readonly Change[], revision: Revision): void {
    for (const [prefix, those] of this.#split(changes)) {
      const batch: WatchBatch = { type: 'changes', changes: those, revision };
      for (const watcher of this.#byPrefix.get(prefix) ?? []) watcher.deliver(batch);
    }
  }

  /** The changes for each watched prefix. */
  #split(changes: readonly Change[]): ReadonlyMap<string, readonly Change[]> {
    const found = new Map<string, Change[]>();
    for (const change of changes) {
      const key = keyOf(change);
      for (const length of this.#lengths.keys()) {
        if (length > key.length) continue;
        const prefix = key.slice(0, length);
        if (!this.#byPrefix.has(prefix)) continue;
        const those = found.get(prefix);
        if (those === undefined) found.set(prefix, [change]);
        else those.push(change);
      }
    }
    return found;
  }
}
