import { parseAddress } from '@podwire/addresses';
import { type Block, findSlot, type Rest } from './block.js';
import type { PoolSpace } from './pool-space.js';

interface UnplacedRest {
  readonly rest: Rest;
  readonly workload: string | undefined;
}

/**
 * Addresses that cool down while they could not be had anyway: reserved ones, borrowed ones, and those of blocks that are not owned (any
 * more).
 */
export class UnplacedRests {
  /** By canonical text. */
  readonly #rests = new Map<string, UnplacedRest>();

  add(address: string, rest: Rest, workload: string | undefined): void {
    this.#rests.set(address, { rest, workload });
  }

  wake(now: number): void {
    for (const [address, { rest }] of this.#rests) if (rest.until <= now) this.#rests.delete(address);
  }

  /** Keeps back what cools of a block that has come, or of which less is reserved now. */
  place(space: PoolSpace, block: Block): void {
    for (const [address, { rest, workload }] of this.#rests) {
      const slot = findSlot(block, parseAddress(address));
      // One that another node borrows comes back when its block is lost, and not only when it is given back.
      if (slot === undefined || slot.state === 'reserved' || slot.state === 'lent') continue;
      this.#rests.delete(address);
      if (slot.state === 'free') space.rest(slot, rest, workload);
    }
  }
}
