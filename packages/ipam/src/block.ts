import { addressAt, addressBits, formatAddress, formatPrefix, type Prefix } from '@podwire/addresses';
import type { BlockReport, Pool } from './contract.js';
import { Fifo, type Linked } from './fifo.js';
import { clipRange, rangeOf, rangesWithin } from './ranges.js';

/** One address of a block. */
export interface Slot extends Linked<Slot> {
  readonly block: Block;
  readonly ordinal: number;
  /** Not to be handed out, but an adopted lease may be in it. */
  readonly reserved: boolean;
  /** `free` slots are in their block's queue, `cooling` ones in that of their pool. */
  state: 'free' | 'leased' | 'cooling' | 'reserved';
  owner: string | undefined;
  /** When cooling ends, in elapsed milliseconds. */
  restsUntil: number;
  /** The address once somebody has asked for it. */
  text: string | undefined;
}

/** A block that this node owns. It has at most 4,096 addresses (/20 or /116), so all of them are in memory. */
export interface Block {
  readonly prefix: Prefix;
  readonly cidr: string;
  /** Counts up with every block of a pool that was claimed. */
  readonly sequence: number;
  readonly slots: readonly Slot[];
  /** Longest free first: fresh ones in order, released ones behind them. */
  readonly free: Fifo<Slot>;
  used: number;
  cooling: number;
  /** Whether it is among the pool's {@link OpenBlocks}. */
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
    owner: undefined,
    restsUntil: 0,
    text: undefined,
    before: undefined,
    behind: undefined,
  };
}

function reservedOrdinals(pool: Pool, prefix: Prefix): Set<number> {
  const bounds = rangeOf(prefix);
  const ordinals = new Set<number>();
  for (const range of rangesWithin(pool.reserved, bounds)) {
    const clipped = clipRange(range, bounds)!;
    const end = Number(clipped.last - bounds.first);
    for (let ordinal = Number(clipped.first - bounds.first); ordinal <= end; ordinal++) ordinals.add(ordinal);
  }
  return ordinals;
}

export function formatSlot(slot: Slot): string {
  slot.text ??= formatAddress(addressAt(slot.block.prefix.address, slot.ordinal));
  return slot.text;
}

export function reportBlock(block: Block): BlockReport {
  const { cidr, used, cooling } = block;
  const free = block.free.size;
  return { cidr, used, free, cooling, reserved: block.slots.length - used - free - cooling };
}
