import type { Block } from './block.js';

/** All blocks of the node over all pools, in claim order. */
export class BlockList {
  readonly #blocks = new Set<Block>();
  #cidrs: readonly string[] | undefined;

  add(block: Block): void {
    this.#blocks.add(block);
    this.#cidrs = undefined;
  }

  delete(block: Block): void {
    this.#blocks.delete(block);
    this.#cidrs = undefined;
  }

  values(): Block[] {
    return [...this.#blocks];
  }

  find(cidr: string): Block | undefined {
    for (const block of this.#blocks) if (block.cidr === cidr) return block;
    return undefined;
  }

  /** The same array until a block comes or goes. */
  cidrs(): readonly string[] {
    this.#cidrs ??= Object.freeze([...this.#blocks].map((block) => block.cidr));
    return this.#cidrs;
  }
}
