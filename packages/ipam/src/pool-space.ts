import {
  type Address,
  addressBits,
  containsAddress,
  containsPrefix,
  type Prefix,
  prefixSize,
} from '@podwire/addresses';
import { PodwireError } from '@podwire/errors';
import {
  type Block,
  createBlock,
  isEmpty,
  openSlot,
  reportBlock,
  reserveAnew,
  type Rest,
  type Slot,
} from './block.js';
import { BlockMap } from './block-map.js';
import type { BlockSource, Pool, PoolReport } from './contract.js';
import { Fifo } from './fifo.js';
import { OpenBlocks } from './open-blocks.js';
import { reservedByPool, reservedWithin } from './pool.js';
import { countAddresses } from './ranges.js';

/** Events from a pool space to its owner. */
export interface BlockEvents {
  claimed(block: Block): void;
  givenBack(block: Block): void;
  /** A fragment, since the block around it was claimed. */
  replaced(fragment: Block): void;
}

/** A block has at most 4,096 addresses, whatever its source says. */
const mostBits = 12;

/** Borrowed single addresses are used after all whole blocks. */
const afterWholeBlocks = 2 ** 50;

/**
 * The blocks that this node owns of one pool, and who has their addresses. Times are elapsed milliseconds of a clock
 * that never goes back, so the queue of cooling slots is in the order in which they end.
 */
export class PoolSpace {
  readonly pool: Pool;
  readonly size: bigint;
  readonly #source: BlockSource;
  readonly #events: BlockEvents;
  #reserved: bigint;
  readonly #blocks = new BlockMap();
  readonly #open = new OpenBlocks();
  readonly #cooling = new Fifo<Slot>();
  #claims = 0;
  #used = 0;
  #lent = 0;
  /** Leases and loans of reserved addresses: they do not count as reserved. */
  #heldReserved = 0;

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

  get lent(): number {
    return this.#lent;
  }

  get reserved(): bigint {
    return this.#reserved - BigInt(this.#heldReserved);
  }

  /** Free addresses, in blocks of this node or not. */
  get free(): bigint {
    return this.size - BigInt(this.#used + this.#cooling.size + this.#lent) - this.reserved;
  }

  /** When the first cooling address is free again. */
  get firstRested(): number | undefined {
    return this.#cooling.head?.rest.until;
  }

  /** Puts what has cooled down behind the free addresses of its block. Constant time for each release before. */
  wake(now: number): void {
    for (let slot = this.#cooling.head; slot !== undefined && slot.rest.until <= now;) {
      this.#cooling.remove(slot);
      slot.block.cooling--;
      this.#free(slot);
      slot = this.#cooling.head;
    }
  }

  #free(slot: Slot): void {
    slot.workload = undefined;
    openSlot(slot);
    if (slot.state === 'free') this.#open.add(slot.block);
  }

  /** Keeps the address for one workload; undefined: for all. */
  keep(slot: Slot, workload: string | undefined): void {
    const wasKept = slot.state === 'kept';
    if (slot.state === 'free') slot.block.free.remove(slot);
    const isOpen = wasKept || slot.state === 'free';
    slot.keptFor = workload;
    if (isOpen) this.#free(slot);
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
    return slotAt(this.#blocks.around(address) ?? this.#claim(address), address);
  }

  /** As {@link slotOf}, but only of blocks that are owned already. */
  knownSlotOf(address: Address): Slot | undefined {
    return slotAt(this.#blocks.around(address), address);
  }

  #claim(holding: Address | undefined): Block | undefined {
    const prefix = this.#source.claim(this.pool, holding);
    if (prefix === undefined) return undefined;
    this.#requireFit(prefix, holding);
    const fragments = this.#blocks.within(prefix);
    for (const fragment of fragments) this.remove(fragment);
    const block = createBlock(this.pool, prefix, this.#nextSequence(prefix));
    this.#list(block);
    for (const fragment of fragments) this.#events.replaced(fragment);
    this.#events.claimed(block);
    return block;
  }

  #requireFit(prefix: Prefix, holding: Address | undefined): void {
    const around = this.#blocks.around(prefix.address);
    const fits =
      containsPrefix(this.pool.prefix, prefix) &&
      addressBits(prefix.family) - prefix.length <= mostBits &&
      (around === undefined || around.prefix.length > prefix.length) &&
      this.#blocks.within(prefix).every(isSingle) &&
      (holding === undefined || containsAddress(prefix, holding));
    if (!fits) {
      throw new PodwireError('INTERNAL', `the block source gave a wrong block of pool ${this.pool.name}`);
    }
  }

  #nextSequence(prefix: Prefix): number {
    return this.#claims++ + (isFragmentOf(this.pool, prefix) ? afterWholeBlocks : 0);
  }

  #list(block: Block): void {
    this.#blocks.add(block);
    this.#reserved += reservedByBlock(this.pool, block);
    if (block.free.size > 0) this.#open.add(block);
  }

  #unlist(block: Block): void {
    this.#blocks.delete(block);
    this.#reserved -= reservedByBlock(this.pool, block);
  }

  blocks(): Block[] {
    return this.#blocks.values();
  }

  /** Takes a block over from another pool, with everything in it. Its cooling slots must be in no queue: {@link queue} follows. */
  takeOver(block: Block): void {
    reserveAnew(block, this.pool);
    block.listedOpen = false;
    block.sequence = this.#nextSequence(block.prefix);
    for (const slot of block.slots) this.#count(slot, 1);
    this.#list(block);
  }

  /** Counts what is held of it. */
  #count(slot: Slot, by: 1 | -1): void {
    if (slot.state !== 'leased' && slot.state !== 'lent') return;
    if (slot.state === 'leased') this.#used += by;
    else this.#lent += by;
    if (slot.reserved) this.#heldReserved += by;
  }

  /** Takes all cooling slots out of the queue, in order. */
  drainCooling(): Slot[] {
    const slots: Slot[] = [];
    for (let slot = this.#cooling.head; slot !== undefined; slot = this.#cooling.head) {
      this.#cooling.remove(slot);
      slots.push(slot);
    }
    return slots;
  }

  /** Puts a slot that is cooling already into the queue. */
  queue(slot: Slot): void {
    this.#cooling.append(slot);
  }

  /** A free slot of a block that has come back goes on cooling. */
  rest(slot: Slot, rest: Rest, workload: string | undefined): void {
    this.#withdraw(slot);
    slot.workload = workload;
    this.#startRest(slot, rest);
    this.#cooling.insert(slot, (other) => other.rest.order > rest.order);
  }

  #startRest(slot: Slot, rest: Rest): void {
    slot.state = 'cooling';
    slot.rest = rest;
    slot.block.cooling++;
  }

  /** Forgets a block, with everything in it. */
  remove(block: Block): void {
    this.#unlist(block);
    this.#open.retain((other) => other !== block);
    for (const slot of block.slots) {
      this.#count(slot, -1);
      if (slot.state === 'cooling') this.#cooling.remove(slot);
    }
  }

  /** Whatever state the slot is in, but not leased or lent. */
  take(slot: Slot, owner: string, workload: string | undefined): void {
    this.#withdraw(slot);
    slot.state = 'leased';
    slot.owner = owner;
    slot.workload = workload;
    slot.block.used++;
    this.#count(slot, 1);
  }

  /** As {@link take}, for another node. */
  lend(slot: Slot, borrower: string): void {
    this.#withdraw(slot);
    slot.state = 'lent';
    slot.owner = borrower;
    slot.workload = undefined;
    slot.block.lent++;
    this.#count(slot, 1);
  }

  #withdraw(slot: Slot): void {
    if (slot.state === 'free') slot.block.free.remove(slot);
    if (slot.state !== 'cooling') return;
    this.#cooling.remove(slot);
    slot.block.cooling--;
  }

  /** Ends a lease or a loan. */
  release(slot: Slot, rest: Rest): void {
    this.#count(slot, -1);
    if (slot.state === 'lent') slot.block.lent--;
    else slot.block.used--;
    slot.owner = undefined;
    if (slot.reserved) {
      slot.state = 'reserved';
      return;
    }
    this.#startRest(slot, rest);
    this.#cooling.append(slot);
  }

  /**
   * Gives back empty blocks, but keeps the earliest claimed one of an enabled pool; never a fragment, which another
   * node waits for, and always that of a `node-cidr` pool, which a node has for its life.
   */
  giveBackEmpty(): Block[] {
    if (this.pool.allocation === 'node-cidr') return [];
    const empty = this.#blocks.values().filter(isEmpty);
    const whole = empty.filter((block) => !isFragmentOf(this.pool, block.prefix));
    const kept = this.pool.disabled ? undefined : whole[0];
    const surplus = new Set(empty.filter((block) => block !== kept));
    this.#open.retain((block) => !surplus.has(block));
    for (const block of surplus) {
      this.#unlist(block);
      this.#source.giveBack(this.pool, block.prefix, false);
      this.#events.givenBack(block);
    }
    return [...surplus];
  }

  report(): PoolReport {
    const { name, cidr } = this.pool;
    const { size, used, cooling, reserved, lent, free } = this;
    const blocks = this.#blocks.values().map(reportBlock);
    return { name, cidr, size, used, cooling, reserved, lent, free, blocks };
  }
}

function slotAt(block: Block | undefined, address: Address): Slot | undefined {
  return block?.slots[Number(address.value - block.prefix.address.value)];
}

const isSingle = (block: Block): boolean => block.slots.length === 1;

/** Addresses that are reserved because the block is one (gateways), not by the ranges of the pool. */
function reservedByBlock(pool: Pool, block: Block): bigint {
  if (pool.allocation === 'blocks') return 0n;
  return (
    countAddresses(reservedWithin(pool, block.prefix)) - countAddresses(reservedByPool(pool, block.prefix))
  );
}

/** A single address of a pool whose blocks have more. */
function isFragmentOf(pool: Pool, prefix: Prefix): boolean {
  const bits = addressBits(prefix.family);
  return prefix.length === bits && pool.blockSize < bits;
}
