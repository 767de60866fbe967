import { type Address, containsPrefix, type Prefix, prefixOf } from '@podwire/addresses';
import type { Block } from './block.js';

/** Blocks of one family by the addresses in them. They do not overlap; nearly all have one length. */
export class BlockMap {
  /** In the order in which they came. */
  readonly #blocks = new Set<Block>();
  /** By length and first address. */
  readonly #byLength = new Map<number, Map<bigint, Block>>();

  add(block: Block): void {
    const { length, address } = block.prefix;
    const known = this.#byLength.get(length);
    if (known === undefined) this.#byLength.set(length, new Map([[address.value, block]]));
    else known.set(address.value, block);
    this.#blocks.add(block);
  }

  delete(block: Block): void {
    const { length, address } = block.prefix;
    this.#blocks.delete(block);
    const known = this.#byLength.get(length);
    known?.delete(address.value);
    if (known?.size === 0) this.#byLength.delete(length);
  }

  around(address: Address): Block | undefined {
    for (const [length, blocks] of this.#byLength) {
      const block = blocks.get(prefixOf(address, length).address.value);
      if (block !== undefined) return block;
    }
    return undefined;
  }

  /** Those inside the prefix; looks at each block that is smaller. */
  within(prefix: Prefix): Block[] {
    const smaller = [...this.#byLength].filter(([length]) => length > prefix.length);
    return smaller.flatMap(([, blocks]) =>
      [...blocks.values()].filter((block) => containsPrefix(prefix, block.prefix)),
    );
  }

  values(): Block[] {
    return [...this.#blocks];
  }
}
