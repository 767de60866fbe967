import { type Address, containsAddress, type Family, formatAddress, parseAddress } from '@podwire/addresses';
import { describeError, PodwireError } from '@podwire/errors';
import { type Block, formatSlot, type Slot } from './block.js';
import { BlockList } from './block-list.js';
import { createLocalBlockSource } from './block-source.js';
import type { Adoption, Ipam, IpamOptions, Lease, LeaseRequest, PoolReport } from './contract.js';
import { isReserved, readPool } from './pool.js';
import { PoolSpace } from './pool-space.js';
import {
  addressCooling,
  addressInUse,
  addressNotInPool,
  blockNotOwned,
  leasesDiffer,
  poolExhausted,
} from './refusals.js';
import { readRequest, type Wanted } from './request.js';
import { Stopwatch } from './stopwatch.js';
import { validatePools } from './validate.js';

/** A lease and where it is; without a place it is foreign. */
interface Holding {
  readonly lease: Lease;
  readonly address: Address;
  place: Place | undefined;
}

interface Place {
  readonly space: PoolSpace;
  readonly slot: Slot;
}

/** @throws PodwireError CONFIG_INVALID with everything that is wrong with the pools */
export function createIpam(options: IpamOptions): Ipam {
  const problems = validatePools(options.pools).map(({ path, message }) => `${path}: ${message}`);
  if (!Number.isFinite(options.coolDown) || options.coolDown < 0) {
    problems.push(`coolDown: ${options.coolDown} is no number of milliseconds`);
  }
  if (problems.length > 0) {
    throw new PodwireError('CONFIG_INVALID', problems.join('; '), { details: { problems } });
  }
  return new NodeIpam(options);
}

class NodeIpam implements Ipam {
  readonly #coolDown: number;
  readonly #time: Stopwatch;
  readonly #spaces: readonly PoolSpace[];
  readonly #blocks = new BlockList();
  readonly #owners = new Map<string, Holding[]>();
  /** By canonical text. */
  readonly #foreign = new Map<string, Holding>();

  constructor(options: IpamOptions) {
    this.#coolDown = options.coolDown;
    this.#time = new Stopwatch(options.clock);
    const source = options.blockSource ?? createLocalBlockSource();
    this.#spaces = options.pools.map((spec) => {
      const space: PoolSpace = new PoolSpace(readPool(spec), source, {
        claimed: (block) => this.#blockClaimed(space, block),
        givenBack: (block) => this.#blocks.delete(block),
      });
      return space;
    });
  }

  allocate(request: LeaseRequest): Lease[] {
    this.#wake();
    const wanted = readRequest(request, this.#spaces);
    const held = this.#owners.get(wanted.owner);
    if (held !== undefined) return answerWithHeld(wanted, held);
    if (wanted.families.length === 0) throw poolExhausted(undefined, wanted, this.#time);
    return this.#take(wanted.owner, this.#choose(wanted));
  }

  /** Chooses for every family before anything is taken: a refusal leaves no more than a claimed block behind. */
  #choose(wanted: Wanted): Place[] {
    const places = new Map<Family, Place>();
    for (const [family, address] of wanted.requested) places.set(family, this.#chooseNamed(address, wanted));
    return wanted.families.map((family) => places.get(family) ?? this.#chooseAny(family, wanted));
  }

  #chooseAny(family: Family, wanted: Wanted): Place {
    for (const space of wanted.spaces) {
      if (space.pool.disabled || space.pool.prefix.family !== family) continue;
      const slot = space.nextFree();
      if (slot !== undefined) return { space, slot };
    }
    throw poolExhausted(family, wanted, this.#time);
  }

  #chooseNamed(address: Address, wanted: Wanted): Place {
    const space = this.#spaceOf(address);
    if (space === undefined) throw addressNotInPool(address, wanted);
    const { name, disabled } = space.pool;
    if (!wanted.spaces.includes(space)) {
      throw addressNotInPool(address, wanted, `it is in pool ${name}, which the request does not allow`);
    }
    // Whose it is comes first: that is the better answer for an adopted lease in a reserved or disabled place.
    const text = formatAddress(address);
    const owner = space.knownSlotOf(address)?.owner ?? this.#foreign.get(text)?.lease.owner;
    if (owner !== undefined) throw addressInUse(text, name, owner);
    if (disabled) throw addressNotInPool(address, wanted, `its pool ${name} is disabled`);
    if (isReserved(space.pool, address)) {
      throw addressNotInPool(address, wanted, `it is reserved in pool ${name}`);
    }
    const slot = space.slotOf(address);
    if (slot === undefined) throw blockNotOwned(text, name);
    if (slot.state === 'cooling') throw addressCooling(slot, name, this.#time);
    return { space, slot };
  }

  #take(owner: string, places: readonly Place[]): Lease[] {
    const since = this.#time.wall;
    const holdings = places.map((place) => {
      place.space.take(place.slot, owner);
      return holdingOf(place, owner, since);
    });
    this.#owners.set(owner, holdings);
    return holdings.map((holding) => holding.lease);
  }

  adopt(lease: Lease): Adoption {
    const address = readRecorded(lease);
    const text = formatAddress(address);
    this.#wake();
    const space = this.#spaceOf(address);
    const owner = space?.knownSlotOf(address)?.owner ?? this.#foreign.get(text)?.lease.owner;
    if (owner !== undefined && owner !== lease.owner) {
      throw addressInUse(text, space?.pool.name ?? lease.pool, owner);
    }
    if (owner !== undefined) return this.#foreign.has(text) ? 'foreign' : 'pool';
    const slot = space?.slotOf(address);
    const place = space && slot && { space, slot };
    this.#hold({ lease: { ...lease, address: text, pool: space?.pool.name ?? lease.pool }, address, place });
    return place === undefined ? 'foreign' : 'pool';
  }

  #hold(holding: Holding): void {
    const { lease, place } = holding;
    if (place === undefined) this.#foreign.set(lease.address, holding);
    else place.space.take(place.slot, lease.owner);
    const held = this.#owners.get(lease.owner);
    if (held === undefined) this.#owners.set(lease.owner, [holding]);
    else held.push(holding);
  }

  release(owner: string): Lease[] {
    const held = this.#owners.get(owner);
    if (held === undefined) return [];
    this.#owners.delete(owner);
    this.#time.read();
    const restsUntil = this.#time.elapsed + this.#coolDown;
    for (const { lease, place } of held) {
      if (place === undefined) this.#foreign.delete(lease.address);
      else place.space.release(place.slot, restsUntil);
    }
    return held.map((holding) => holding.lease);
  }

  releaseEmptyBlocks(): string[] {
    this.#wake();
    return this.#spaces.flatMap((space) => space.giveBackEmpty()).map((block) => block.cidr);
  }

  leases(): Lease[] {
    return [...this.#owners.values()].flat().map((holding) => holding.lease);
  }

  foreignLeases(): Lease[] {
    return [...this.#foreign.values()].map((holding) => holding.lease);
  }

  blocks(): readonly string[] {
    return this.#blocks.cidrs();
  }

  report(): PoolReport[] {
    this.#wake();
    return this.#spaces.map((space) => space.report());
  }

  #wake(): void {
    this.#time.read();
    for (const space of this.#spaces) space.wake(this.#time.elapsed);
  }

  #spaceOf(address: Address): PoolSpace | undefined {
    return this.#spaces.find((space) => containsAddress(space.pool.prefix, address));
  }

  /** A block that was another's when a lease in it was adopted may become ours later: it must know that lease. */
  #blockClaimed(space: PoolSpace, block: Block): void {
    this.#blocks.add(block);
    for (const [text, holding] of this.#foreign) {
      if (!containsAddress(block.prefix, holding.address)) continue;
      const slot = space.knownSlotOf(holding.address)!;
      space.take(slot, holding.lease.owner);
      holding.place = { space, slot };
      this.#foreign.delete(text);
    }
  }
}

function holdingOf(place: Place, owner: string, since: number): Holding {
  const { space, slot } = place;
  const family = space.pool.prefix.family;
  const value = slot.block.prefix.address.value + BigInt(slot.ordinal);
  const lease = { address: formatSlot(slot), pool: space.pool.name, owner, since };
  return { lease, address: { family, value }, place };
}

function readRecorded(lease: Lease): Address {
  try {
    return parseAddress(lease.address);
  } catch (error) {
    throw new PodwireError('RECORD_IO', `the record of ${lease.owner}: ${describeError(error)}`, {
      cause: error,
    });
  }
}

/** What the owner has, when that is what it asks for: same families, same addresses, pools that it allows. */
function answerWithHeld(wanted: Wanted, held: readonly Holding[]): Lease[] {
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
