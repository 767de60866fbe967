/** Items by key, found by prefix at the price of what is found: a tree along the parts of the keys. */
import type { Item } from '../contract.js';

interface Branch {
  /** Of an item that ends here. */
  key?: string | undefined;
  readonly below: Map<string, Branch>;
}

const createBranch = (): Branch => ({ below: new Map() });

export class Tree {
  readonly #items = new Map<string, Item>();
  readonly #root = createBranch();

  get size(): number {
    return this.#items.size;
  }

  get(key: string): Item | undefined {
    return this.#items.get(key);
  }

  set(item: Item): void {
    if (!this.#items.has(item.key)) this.#reach(item.key.split('/')).key = item.key;
    this.#items.set(item.key, item);
  }

  delete(key: string): void {
    if (this.#items.delete(key)) prune(this.#root, key.split('/'), 0);
  }

  /** In order of keys. */
  list(prefix: string): readonly Item[] {
    const found: string[] = [];
    const parts = prefix.split('/');
    const begun = parts.pop() ?? '';
    let branch: Branch | undefined = this.#root;
    for (const part of parts) branch = branch?.below.get(part);
    for (const [part, below] of branch?.below ?? []) if (part.startsWith(begun)) collect(below, found);
    // By code unit, which for ASCII is the order of bytes that every back end has.
    return found.sort().flatMap((key) => this.#items.get(key) ?? []);
  }

  #reach(parts: readonly string[]): Branch {
    let branch = this.#root;
    for (const part of parts) {
      const next = branch.below.get(part) ?? createBranch();
      branch.below.set(part, next);
      branch = next;
    }
    return branch;
  }
}

function collect(branch: Branch, into: string[]): void {
  if (branch.key !== undefined) into.push(branch.key);
  for (const below of branch.below.values()) collect(below, into);
}

function prune(branch: Branch, parts: readonly string[], depth: number): void {
  const part = parts[depth];
  if (part === undefined) {
    branch.key = undefined;
    return;
  }
  const next = branch.below.get(part);
  if (next === undefined) return;
  prune(next, parts, depth + 1);
  if (next.key === undefined && next.below.size === 0) branch.below.delete(part);
}
