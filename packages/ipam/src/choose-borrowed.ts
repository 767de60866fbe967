import { parseAddress } from '@podwire/addresses';
import { type Block, findSlot, formatSlot, type Slot } from './block.js';
import type { PoolSpace } from './pool-space.js';
import { addressCooling, addressInUse, addressLent, cannotBorrow, nothingToBorrow } from './refusals.js';
import type { Stopwatch } from './stopwatch.js';

/**
 * Which address of the block another node gets.
 * @throws PodwireError POOL_EXHAUSTED, ADDRESS_IN_USE, ADDRESS_NOT_IN_POOL
 */
export function chooseBorrowed(
  { pool }: PoolSpace,
  block: Block,
  text: string | undefined,
  time: Stopwatch,
): Slot {
  if (text === undefined) {
    const slot = pool.disabled ? undefined : block.free.head;
    if (slot === undefined) throw nothingToBorrow(block.cidr);
    return slot;
  }
  const address = parseAddress(text);
  if (pool.disabled) throw cannotBorrow(text, `its pool ${pool.name} ${pool.whyDisabled}`);
  const slot = findSlot(block, address);
  if (slot === undefined) throw cannotBorrow(text, `it is not in ${block.cidr}`);
  if (slot.state === 'leased') throw addressInUse(formatSlot(slot), pool.name, slot.owner!);
  if (slot.state === 'lent') throw addressLent({ address: text, borrower: slot.owner! }, pool.name);
  // The workload for which it is kept may have its pod on another node now.
  const isItsOwn = slot.keptFor !== undefined && slot.keptFor === slot.workload;
  if (slot.state === 'cooling' && !isItsOwn) throw addressCooling(slot, pool.name, time);
  if (slot.reserved) throw cannotBorrow(text, `it is reserved in pool ${pool.name}`);
  return slot;
}
