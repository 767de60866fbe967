import { type Address, containsPrefix, prefixOf, prefixSize } from '@podwire/addresses';
import { PodwireError } from '@podwire/errors';
import { type Block, createBlock, reportBlock, type Slot } from './block.js';
import type { BlockSource, Pool, PoolReport } from './contract.js';
import { Fifo } from './fifo.js';
import { OpenBlocks } from './open-blocks.js';
import { countAddresses } from './ranges.js';

/** What a pool space tells its owner. */
export interface BlockEvents {
  claimed(block: Block): void;
  givenBack(block: Block): void;
}

/**
 * The blocks that this node owns of one pool, and who has their addresses. Times are elapsed milliseconds of a clock
 * that never goes back, so the queue of cooling slots is in the order in which they end.
 */
export class PoolSpace {
  readonly pool: Pool;
  readonly size: bigint;
  readonly #source: BlockSource;
  readonly #events: BlockEvents;
  readonly #reserved: bigint;
  /** By first address, in claim order. */
  readonly #blocks = new Map<bigint, Block>();
  readonly #open = new OpenBlocks();
  readonly #cooling = new Fifo<Slot>();
  #claims = 0;
  #used = 0;
  /** Adopted leases in reserved addresses: they count as used, not as reserved. */
  #usedReserved = 0;

  constructor(pool: Pool, source: BlockSource, events: BlockEvents) {
    this.pool = pool;
    this.size = prefixSize(pool.prefix);
    this.#reserved = countAddresses(pool.reserved);
    this.#source = source;
    this.#events = events;
  }

  get used(): number {
    return this.#used;
  }

  get cooling(): number {
    return this.#cooling.size;
  }

  get reserved(): bigint {
    return this.#reserved - BigInt(this.#usedReserved);
  }

  /** Addresses that nobody has, in blocks of this node or not. */
  get free(): bigint {
    return this.size - BigInt(this.#used + this.#cooling.size) - this.reserved;
  }

  /** When the first cooling address is free again. */
  get firstRested(): number | undefined {
    return this.#cooling.head?.restsUntil;
  }

  /** Puts what has cooled down behind the free addresses of its block. Constant time for each release before. */
  wake(now: number): void {
    for (let slot = this.#cooling.head; slot !== undefined && slot.restsUntil <= now;) {
      this.#cooling.remove(slot);
      slot.block.cooling--;
      slot.state = 'free';
      slot.block.free.append(slot);
      this.#open.add(slot.block);
      slot = this.#cooling.head;
    }
  }

  /** The address to hand out next; claims a block when no own block has one. It is not taken yet. */
  nextFree(): Slot | undefined {
    for (;;) {
      const block = this.#open.first();
      if (block !== undefined) return block.free.head;
      if (this.#claim(undefined) === undefined) return undefined;
    }
  }

  /** The slot of an address of this pool; claims its block. Undefined when the block is not to be had. */
  slotOf(address: Address): Slot | undefined {
    const block = this.#blockOf(address) ?? this.#claim(address);
    return block?.slots[Number(address.value - block.prefix.address.value)];
  }

  /** As {@link slotOf}, but only of blocks that are owned already. */
  knownSlotOf(address: Address): Slot | undefined {
    const block = this.#blockOf(address);
    return block?.slots[Number(address.value - block.prefix.address.value)];
  }

  #blockOf(address: Address): Block | undefined {
    return this.#blocks.get(prefixOf(address, this.pool.blockSize).address.value);
  }

  #claim(holding: Address | undefined): Block | undefined {
    const prefix = this.#source.claim(this.pool, holding);
    if (prefix === undefined) return undefined;
    const key = prefix.address.value;
    const fits = prefix.length === this.pool.blockSize && containsPrefix(this.pool.prefix, prefix);
    if (!fits || this.#blocks.has(key)) {
      throw new PodwireError('INTERNAL', `the block source gave a wrong block of pool ${this.pool.name}`);
    }
    const block = createBlock(this.pool, prefix, this.#claims++);
    this.#blocks.set(key, block);
    if (block.free.size > 0) this.#open.add(block);
    this.#events.claimed(block);
    return block;
  }

  /** Whatever state the slot is in, but not leased. */
  take(slot: Slot, owner: string): void {
    if (slot.state === 'free') slot.block.free.remove(slot);
    if (slot.state === 'cooling') {
      this.#cooling.remove(slot);
      slot.block.cooling--;
    }
    if (slot.reserved) this.#usedReserved++;
    slot.state = 'leased';
    slot.owner = owner;
    slot.block.used++;
    this.#used++;
  }

  release(slot: Slot, restsUntil: number): void {
    slot.owner = undefined;
    slot.block.used--;
    this.#used--;
    if (slot.reserved) {
      slot.state = 'reserved';
      this.#usedReserved--;
      return;
    }
    slot.state = 'cooling';
    slot.restsUntil = restsUntil;
    slot.block.cooling++;
    this.#cooling.append(slot);
  }

  /** Gives back empty blocks, but keeps the earliest claimed one of an enabled pool. */
  giveBackEmpty(): Block[] {
    const empty = [...this.#blocks.values()].filter((block) => block.used === 0 && block.cooling === 0);
    const surplus = new Set(empty.slice(this.pool.disabled ? 0 : 1));
    this.#open.retain((block) => !surplus.has(block));
    for (const block of surplus) {
      this.#blocks.delete(block.prefix.address.value);
      this.#source.giveBack(this.pool, block.prefix);
      this.#events.givenBack(block);
    }
    return [...surplus];
  }

  report(): PoolReport {
    const { name, cidr } = this.pool;
    const { size, used, cooling, reserved, free } = this;
    return {
      name,
      cidr,
      size,
      used,
      cooling,
      reserved,
      free,
      blocks: [...this.#blocks.values()].map(reportBlock),
    };
  }
}
