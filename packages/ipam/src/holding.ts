import type { Address } from '@podwire/addresses';
import { compact } from '@podwire/platform';
import { addressOf, formatSlot, type Slot } from './block.js';
import type { Lease } from './contract.js';
import type { PoolSpace } from './pool-space.js';
import { leasesDiffer } from './refusals.js';
import type { Wanted } from './request.js';

/** A lease and where it is; without a place it is foreign. */
export interface Holding {
  lease: Lease;
  readonly address: Address;
  place: Place | undefined;
}

export interface Place {
  readonly space: PoolSpace;
  readonly slot: Slot;
}

export function holdingOf(place: Place, { owner, workload }: Wanted, since: number): Holding {
  const { space, slot } = place;
  const lease = {
    address: formatSlot(slot),
    pool: space.pool.name,
    owner,
    since,
    ...compact({ workload }),
  };
  return { lease, address: addressOf(slot), place };
}

/** Says where a lease is now; its pool may be called something else. */
export function settle(holding: Holding, place: Place): void {
  const pool = place.space.pool.name;
  holding.place = place;
  if (holding.lease.pool !== pool) holding.lease = { ...holding.lease, pool };
}

/** The owner's addresses, when they fit its request: same families, same addresses, pools that it allows. */
export function answerWithHeld(wanted: Wanted, held: readonly Holding[]): Lease[] {
  const families = new Set(held.map(({ address }) => address.family));
  const sameFamilies =
    wanted.named === undefined ||
    (wanted.named.length === families.size && wanted.named.every((family) => families.has(family)));
  const hasRequested = [...wanted.requested.values()].every((address) =>
    held.some((has) => has.address.family === address.family && has.address.value === address.value),
  );
  const allowed =
    !wanted.restricted ||
    held.every(({ place }) => place !== undefined && wanted.spaces.includes(place.space));
  const leases = held.map((holding) => holding.lease);
  if (!sameFamilies || !hasRequested || !allowed) throw leasesDiffer(wanted.owner, leases);
  return leases;
}
