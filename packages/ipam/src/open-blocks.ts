import type { Block } from './block.js';

/**
 * The blocks that may have a free address; the earliest claimed is found in constant, and kept up to date in
 * logarithmic time: a node with a thousand full blocks must not look at each for every pod. A binary heap; blocks
 * that turn out full are dropped when they come up.
 */
export class OpenBlocks {
  readonly #heap: Block[] = [];

  /** Call when the block has a free address; adding it again is harmless. */
  add(block: Block): void {
    if (block.listedOpen) return;
    block.listedOpen = true;
    this.#heap.push(block);
    this.#rise(this.#heap.length - 1);
  }

  first(): Block | undefined {
    for (;;) {
      const block = this.#heap[0];
      if (block === undefined || block.free.size > 0) return block;
      this.#dropFirst();
    }
  }

  /** Takes out all other blocks; for the rare case that blocks are given back. */
  retain(keep: (block: Block) => boolean): void {
    const kept = this.#heap.filter(keep);
    kept.sort((a, b) => a.sequence - b.sequence);
    this.#heap.splice(0, this.#heap.length, ...kept);
  }

  #dropFirst(): void {
    const last = this.#heap.pop()!;
    const first = this.#heap[0] ?? last;
    first.listedOpen = false;
    if (first === last) return;
    this.#heap[0] = last;
    this.#sink(0);
  }

  #rise(index: number): void {
    for (let at = index; at > 0;) {
      const parent = (at - 1) >> 1;
      if (!this.#swapIfEarlier(at, parent)) return;
      at = parent;
    }
  }

  #sink(index: number): void {
    for (let at = index; ;) {
      const left = 2 * at + 1;
      const child = this.#isEarlier(left + 1, left) ? left + 1 : left;
      if (!this.#swapIfEarlier(child, at)) return;
      at = child;
    }
  }

  #isEarlier(a: number, b: number): boolean {
    const [left, right] = [this.#heap[a], this.#heap[b]];
    return left !== undefined && right !== undefined && left.sequence < right.sequence;
  }

  #swapIfEarlier(below: number, above: number): boolean {
    if (!this.#isEarlier(below, above)) return false;
    const block = this.#heap[below]!;
    this.#heap[below] = this.#heap[above]!;
    this.#heap[above] = block;
    return true;
  }
}
