import type { Scope } from './contract.js';

/** Keys where something may have to happen, in their order, and by the scope that holds what is there. */
export class PendingKeys {
  readonly #holders = new Map<string, Scope>();
  readonly #held = new Map<Scope, Set<string>>();

  /** Of all scopes. */
  [Symbol.iterator](): Iterator<string> {
    return this.#holders.keys();
  }

  has(key: string): boolean {
    return this.#holders.has(key);
  }

  heldBy(scope: Scope): Iterable<string> {
    return this.#held.get(scope) ?? [];
  }

  /** Once more with another scope when the key has passed to it. */
  add(key: string, holder: Scope): void {
    const before = this.#holders.get(key);
    if (before === holder) return;
    if (before !== undefined) this.#release(key, before);
    this.#holders.set(key, holder);
    const held = this.#held.get(holder);
    if (held === undefined) this.#held.set(holder, new Set([key]));
    else held.add(key);
  }

  delete(key: string): void {
    const holder = this.#holders.get(key);
    if (holder === undefined) return;
    this.#holders.delete(key);
    this.#release(key, holder);
  }

  #release(key: string, holder: Scope): void {
    const held = this.#held.get(holder)!;
    held.delete(key);
    if (held.size === 0) this.#held.delete(holder);
  }
}
