import type { Changes, Hint } from './contract.js';

const lost: Hint = { keys: [], lost: true, marked: true };

/**
 * Hints between two reads, for feeds that hear of changes as they happen. Once some were lost, or when they are more than are kept,
 * one hint stands for all: everything in the place of the feed is to be looked at.
 */
export class HintQueue {
  readonly #most: number;
  #hints: Hint[] = [];

  /** @param most hints that are kept */
  constructor(most: number) {
    this.#most = most;
  }

  add(hints: readonly Hint[]): void {
    if (this.#hints[0] === lost) return;
    if (this.#hints.length + hints.length > this.#most) this.lose();
    else this.#hints.push(...hints);
  }

  lose(): void {
    this.#hints = [lost];
  }

  read(): ReturnType<Changes['read']> {
    const hints = this.#hints;
    this.#hints = [];
    return { hints, more: false };
  }
}
