import { Heap } from '@podwire/platform';
import type { Block } from './block.js';

/**
 * The blocks that may have a free address. The earliest claimed is found in constant time, and the heap updated in logarithmic:
 * a node with a thousand full blocks must not check each for every pod. Full blocks are dropped when they come up.
 */
export class OpenBlocks {
  readonly #heap = new Heap<Block>((a, b) => a.sequence < b.sequence);

  /** Call when the block has a free address; adding it again is harmless. */
  add(block: Block): void {
    if (block.listedOpen) return;
    block.listedOpen = true;
    this.#heap.push(block);
  }

  first(): Block | undefined {
    for (;;) {
      const block = this.#heap.first;
      if (block === undefined || block.free.size > 0) return block;
      this.#heap.pop();
      block.listedOpen = false;
    }
  }

  /** Drops all other blocks; for the rare case that blocks are released. */
  retain(keep: (block: Block) => boolean): void {
    this.#heap.retain(keep);
  }
}
