import {
  type Address,
  addressAt,
  addressBits,
  containsAddress,
  formatAddress,
  formatPrefix,
  type Prefix,
} from '@podwire/addresses';
import type { BlockReport, Pool } from './contract.js';
import { Fifo, type Linked } from './fifo.js';
import { reservedWithin } from './pool.js';

/** How long a released address is kept back. */
export interface Rest {
  /** Elapsed milliseconds. */
  readonly until: number;
  /** Counts releases; who is released earlier rests no longer. */
  readonly order: number;
}

const noRest: Rest = { until: 0, order: 0 };

/** One address of a block. */
export interface Slot extends Linked<Slot> {
  readonly block: Block;
  readonly ordinal: number;
  /** Not to be handed out, but an adopted lease may be in it. */
  reserved: boolean;
  /** `free` slots are in their block's queue, `cooling` ones in that of their pool. */
  state: 'free' | 'kept' | 'leased' | 'cooling' | 'reserved' | 'lent';
  /** The only workload that may have it: then it is `kept` instead of `free`. */
  keptFor: string | undefined;
  /** Of the lease; or the node that it is lent to. */
  owner: string | undefined;
  /** Workload that has it, or had it and may have it again while it cools. */
  workload: string | undefined;
  /** While it is cooling. */
  rest: Rest;
  /** The address, formatted at the first use. */
  text: string | undefined;
}

/** A block that this node owns. It has at most 4,096 addresses (/20 or /116), so all of them are in memory. */
export interface Block {
  readonly prefix: Prefix;
  readonly cidr: string;
  /** Says which block is used first. */
  sequence: number;
  readonly slots: readonly Slot[];
  /** Longest free first: fresh ones in order, released ones behind them. */
  readonly free: Fifo<Slot>;
  used: number;
  cooling: number;
  lent: number;
  /** True while it is among the pool's {@link OpenBlocks}. */
  listedOpen: boolean;
}

export function createBlock(pool: Pool, prefix: Prefix, sequence: number): Block {
  const slots: Slot[] = [];
  const block: Block = {
    prefix,
    cidr: formatPrefix(prefix),
    sequence,
    slots,
    free: new Fifo(),
    used: 0,
    cooling: 0,
    lent: 0,
    listedOpen: false,
  };
  const size = 2 ** (addressBits(prefix.family) - prefix.length);
  const reserved = reservedOrdinals(pool, prefix);
  for (let ordinal = 0; ordinal < size; ordinal++) {
    const slot = createSlot(block, ordinal, reserved.has(ordinal));
    slots.push(slot);
    if (!slot.reserved) block.free.append(slot);
  }
  return block;
}

function createSlot(block: Block, ordinal: number, reserved: boolean): Slot {
  return {
    block,
    ordinal,
    reserved,
    state: reserved ? 'reserved' : 'free',
    keptFor: undefined,
    owner: undefined,
    workload: undefined,
    rest: noRest,
    text: undefined,
    before: undefined,
    behind: undefined,
  };
}

/** Applies the reserved ranges of the pool that the block is in now. Slots that cool must be in no queue. */
export function reserveAnew(block: Block, pool: Pool): void {
  const reserved = reservedOrdinals(pool, block.prefix);
  for (const slot of block.slots) {
    const now = reserved.has(slot.ordinal);
    if (slot.reserved === now) continue;
    slot.reserved = now;
    if (now) closeSlot(slot);
    else if (slot.state === 'reserved') openSlot(slot);
  }
}

function closeSlot(slot: Slot): void {
  if (slot.state === 'free') slot.block.free.remove(slot);
  else if (slot.state === 'cooling') slot.block.cooling--;
  else if (slot.state !== 'kept') return;
  slot.state = 'reserved';
}

/** It can be allocated again, by the workload that keeps it or by all. */
export function openSlot(slot: Slot): void {
  slot.state = slot.keptFor === undefined ? 'free' : 'kept';
  if (slot.state === 'free') slot.block.free.append(slot);
}

function reservedOrdinals(pool: Pool, prefix: Prefix): Set<number> {
  const first = prefix.address.value;
  const ordinals = new Set<number>();
  for (const range of reservedWithin(pool, prefix)) {
    const end = Number(range.last - first);
    for (let ordinal = Number(range.first - first); ordinal <= end; ordinal++) ordinals.add(ordinal);
  }
  return ordinals;
}

export function addressOf(slot: Slot): Address {
  return addressAt(slot.block.prefix.address, slot.ordinal);
}

/** Undefined when the address is not in the block. */
export function findSlot(block: Block, address: Address): Slot | undefined {
  if (!containsAddress(block.prefix, address)) return undefined;
  return block.slots[Number(address.value - block.prefix.address.value)];
}

export function formatSlot(slot: Slot): string {
  slot.text ??= formatAddress(addressOf(slot));
  return slot.text;
}

/** Reports if no address of it is in use, cooling or lent. */
export function isEmpty({ used, cooling, lent }: Block): boolean {
  return used === 0 && cooling === 0 && lent === 0;
}

export function reportBlock(block: Block): BlockReport {
  const { cidr, used, cooling, lent } = block;
  const free = block.free.size;
  return { cidr, used, free, cooling, reserved: block.slots.length - used - free - cooling - lent, lent };
}
