/** Which addresses a request gets. Takes nothing; the most that it does is to claim a block. */
import { type Address, type Family, formatAddress } from '@podwire/addresses';
import type { PodwireError } from '@podwire/errors';
import type { Slot } from './block.js';
import type { BorrowedAddress } from './contract.js';
import type { Place } from './holding.js';
import { isReserved, whyTaken } from './pool.js';
import type { PoolSpace } from './pool-space.js';
import {
  addressCooling,
  addressInUse,
  addressKept,
  addressLent,
  addressNotInPool,
  blockNotOwned,
  poolExhausted,
} from './refusals.js';
import { isOffered, type Wanted } from './request.js';
import type { Stopwatch } from './stopwatch.js';

/** State of addresses. */
export interface Known {
  spaceOf(address: Address): PoolSpace | undefined;
  /** Of a lease, foreign or not. */
  ownerOf(address: Address, space: PoolSpace | undefined): string | undefined;
  borrowedEntry(address: Address): BorrowedAddress | undefined;
}

/** Chooses for every family before anything is taken: a refusal leaves no more than a claimed block behind. */
export function choosePlaces(wanted: Wanted, known: Known, time: Stopwatch): Place[] {
  const places = new Map<Family, Place>();
  for (const [family, address] of wanted.requested)
    places.set(family, chooseNamed(address, wanted, known, time));
  return wanted.families.map(
    (family) =>
      places.get(family) ?? choosePreferred(family, wanted, known) ?? chooseAny(family, wanted, time),
  );
}

function choosePreferred(family: Family, wanted: Wanted, known: Known): Place | undefined {
  for (const address of wanted.preferred) {
    if (address.family !== family) continue;
    const space = known.spaceOf(address);
    if (space === undefined || space.pool.disabled || !wanted.spaces.includes(space)) continue;
    if (known.ownerOf(address, space) !== undefined || isReserved(space.pool, address)) continue;
    const slot = space.slotOf(address);
    if (slot !== undefined && mayHave(slot, wanted)) return { space, slot };
  }
  return undefined;
}

function chooseAny(family: Family, wanted: Wanted, time: Stopwatch): Place {
  for (const space of wanted.spaces) {
    if (space.pool.prefix.family !== family || !isOffered(space, wanted.restricted)) continue;
    const slot = space.nextFree();
    if (slot !== undefined) return { space, slot };
  }
  throw poolExhausted(family, wanted, time);
}

function chooseNamed(address: Address, wanted: Wanted, known: Known, time: Stopwatch): Place {
  const space = known.spaceOf(address);
  if (space === undefined) throw addressNotInPool(address, wanted);
  const { name, disabled, whyDisabled } = space.pool;
  if (!wanted.spaces.includes(space)) {
    throw addressNotInPool(address, wanted, `it is in pool ${name}, which the request does not allow`);
  }
  // Whose it is comes first: that is the better answer for an adopted lease in a reserved or disabled place.
  refuseHeld(address, space, known);
  if (disabled) throw addressNotInPool(address, wanted, `its pool ${name} ${whyDisabled}`);
  const why = whyTaken(space.pool, address) ?? `it is reserved in pool ${name}`;
  const reserved = (): PodwireError => addressNotInPool(address, wanted, why);
  if (isReserved(space.pool, address)) throw reserved();
  const slot = space.slotOf(address);
  if (slot === undefined) throw blockNotOwned(formatAddress(address), name);
  if (slot.reserved) throw reserved();
  refuseHeld(address, space, known);
  if (slot.state === 'kept' && !mayHave(slot, wanted)) throw addressKept(slot, name);
  if (!mayHave(slot, wanted)) throw addressCooling(slot, name, time);
  return { space, slot };
}

/** @throws PodwireError ADDRESS_IN_USE */
function refuseHeld(address: Address, space: PoolSpace, known: Known): void {
  const { name } = space.pool;
  const owner = known.ownerOf(address, space);
  if (owner !== undefined) throw addressInUse(formatAddress(address), name, owner);
  const entry = known.borrowedEntry(address);
  if (entry !== undefined) throw addressLent(entry, name);
}

/** Free; or kept for the workload that asks; or cooling, and that workload had it. */
function mayHave({ state, keptFor, workload: had }: Slot, { workload }: Wanted): boolean {
  if (state === 'free') return true;
  if (workload === undefined) return false;
  return state === 'kept' ? keptFor === workload : state === 'cooling' && had === workload;
}
