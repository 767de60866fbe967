import {
  type Address,
  compareAddresses,
  containsAddress,
  containsPrefix,
  formatAddress,
  formatPrefix,
  parseAddress,
  parsePrefix,
  type Prefix,
} from '@podwire/addresses';
import { describeError, PodwireError } from '@podwire/errors';
import { type Block, findSlot, formatSlot, type Rest } from './block.js';
import { BlockList } from './block-list.js';
import { createLocalBlockSource } from './block-source.js';
import type {
  Adoption,
  BlockSource,
  Ipam,
  IpamOptions,
  Lease,
  LeaseRequest,
  BorrowedAddress,
  PoolReport,
  PoolSpec,
} from './contract.js';
import { choosePlaces, type Known } from './choose.js';
import { answerWithHeld, type Holding, holdingOf, type Place, settle } from './holding.js';
import { chooseBorrowed } from './choose-borrowed.js';
import { readPool } from './pool.js';
import { PoolSpace } from './pool-space.js';
import { addressInUse, blockUnknown, poolExhausted } from './refusals.js';
import { readRequest, type Wanted } from './request.js';
import { Stopwatch } from './stopwatch.js';
import { UnplacedRests } from './unplaced-rests.js';
import { describeProblems } from './validate.js';

/** @throws PodwireError CONFIG_INVALID with everything that is wrong with the pools */
export function createIpam(options: IpamOptions): Ipam {
  const problems = describeProblems(options.pools);
  if (!Number.isFinite(options.coolDown) || options.coolDown < 0) {
    problems.push(`coolDown: ${options.coolDown} is no number of milliseconds`);
  }
  refuse(problems);
  return new NodeIpam(options);
}

function refuse(problems: readonly string[]): void {
  if (problems.length === 0) return;
  throw new PodwireError('CONFIG_INVALID', problems.join('; '), { details: { problems } });
}

class NodeIpam implements Ipam {
  readonly #coolDown: number;
  readonly #time: Stopwatch;
  readonly #source: BlockSource;
  #specs: string;
  #spaces: readonly PoolSpace[];
  readonly #blocks = new BlockList();
  readonly #owners = new Map<string, Holding[]>();
  /** By canonical text. */
  readonly #foreign = new Map<string, Holding>();
  /** By canonical text; also of blocks that are not owned (yet). */
  readonly #borrowed = new Map<string, BorrowedAddress>();
  /** By canonical text. */
  readonly #kept = new Map<string, string>();
  readonly #unplaced = new UnplacedRests();
  #releases = 0;

  readonly #known: Known = {
    spaceOf: (address) => this.#spaceOf(address),
    ownerOf: (address, space) => this.#ownerOf(address, space),
    borrowedEntry: (address) =>
      this.#borrowed.size === 0 ? undefined : this.#borrowed.get(formatAddress(address)),
  };

  constructor(options: IpamOptions) {
    this.#coolDown = options.coolDown;
    this.#time = new Stopwatch(options.clock);
    this.#source = options.blockSource ?? createLocalBlockSource();
    this.#specs = JSON.stringify(options.pools);
    this.#spaces = options.pools.map((spec) => this.#createSpace(spec));
  }

  #createSpace(spec: PoolSpec): PoolSpace {
    const space: PoolSpace = new PoolSpace(readPool(spec), this.#source, {
      claimed: (block) => this.#blockClaimed(space, block),
      givenBack: (block) => this.#blocks.delete(block),
      replaced: (block) => void this.#blockGone(block),
    });
    return space;
  }

  allocate(request: LeaseRequest): Lease[] {
    this.#wake();
    const wanted = readRequest(request, this.#spaces);
    const held = this.#owners.get(wanted.owner);
    if (held !== undefined) return answerWithHeld(wanted, held);
    if (wanted.families.length === 0) throw poolExhausted(undefined, wanted, this.#time);
    return this.#take(wanted, choosePlaces(wanted, this.#known, this.#time));
  }

  #ownerOf(address: Address, space: PoolSpace | undefined): string | undefined {
    const slot = space?.knownSlotOf(address);
    if (slot?.state === 'leased') return slot.owner;
    if (this.#foreign.size === 0) return undefined;
    return this.#foreign.get(formatAddress(address))?.lease.owner;
  }

  #take(wanted: Wanted, places: readonly Place[]): Lease[] {
    const since = this.#time.wall;
    const holdings = places.map((place) => {
      place.space.take(place.slot, wanted.owner, wanted.workload);
      return holdingOf(place, wanted, since);
    });
    this.#owners.set(wanted.owner, holdings);
    return holdings.map((holding) => holding.lease);
  }

  adopt(lease: Lease): Adoption {
    const address = readRecorded(lease);
    const text = formatAddress(address);
    this.#wake();
    const space = this.#spaceOf(address);
    const owner = this.#ownerOf(address, space);
    if (owner !== undefined && owner !== lease.owner) {
      throw addressInUse(text, space?.pool.name ?? lease.pool, owner);
    }
    if (owner !== undefined) {
      // Its block may be to be had by now, and takes it in.
      if (this.#foreign.has(text) && !this.#borrowed.has(text)) space?.slotOf(address);
      return this.#foreign.has(text) ? 'foreign' : 'pool';
    }
    // A borrowed address belongs to another node: the lease is foreign.
    const slot = this.#borrowed.has(text) ? undefined : space?.slotOf(address);
    const place = space && slot && { space, slot };
    this.#hold({ lease: { ...lease, address: text, pool: space?.pool.name ?? lease.pool }, address, place });
    return place === undefined ? 'foreign' : 'pool';
  }

  #hold(holding: Holding): void {
    const { lease, place } = holding;
    if (place === undefined) this.#foreign.set(lease.address, holding);
    else place.space.take(place.slot, lease.owner, lease.workload);
    const held = this.#owners.get(lease.owner);
    if (held === undefined) this.#owners.set(lease.owner, [holding]);
    else held.push(holding);
  }

  release(owner: string): Lease[] {
    const held = this.#owners.get(owner);
    if (held === undefined) return [];
    this.#owners.delete(owner);
    this.#time.read();
    for (const { lease, place } of held) {
      const rest = this.#nextRest();
      if (place === undefined) this.#foreign.delete(lease.address);
      else this.#end(place, lease, rest);
      if (place?.slot.state !== 'cooling') this.#unplaced.add(lease.address, rest, lease.workload);
    }
    return held.map((holding) => holding.lease);
  }

  #end({ space, slot }: Place, { address }: Lease, rest: Rest): void {
    space.release(slot, rest);
    const entry = this.#borrowed.size === 0 ? undefined : this.#borrowed.get(address);
    if (entry !== undefined) space.lend(slot, entry.borrower);
  }

  #nextRest(): Rest {
    return { until: this.#time.elapsed + this.#coolDown, order: ++this.#releases };
  }

  releaseEmptyBlocks(): string[] {
    this.#wake();
    return this.#spaces.flatMap((space) => space.giveBackEmpty()).map((block) => block.cidr);
  }

  setPools(pools: readonly PoolSpec[]): void {
    const specs = JSON.stringify(pools);
    if (specs === this.#specs) return;
    refuse(describeProblems(pools));
    this.#wake();
    const before = this.#spaces;
    this.#spaces = pools.map((spec) => this.#createSpace(spec));
    this.#specs = specs;
    const resting = before.flatMap((space) => space.drainCooling());
    const homes = this.#moveBlocks(before);
    // Of several queues one.
    for (const slot of resting.sort((a, b) => a.rest.order - b.rest.order)) {
      if (slot.state === 'cooling') homes.get(slot.block)?.queue(slot);
      else this.#unplaced.add(formatSlot(slot), slot.rest, slot.workload);
    }
    for (const [block, space] of homes) this.#unplaced.place(space, block);
    this.#bringHome();
  }

  /** Blocks go to the pool that they are in now. Returns where each is. */
  #moveBlocks(before: readonly PoolSpace[]): ReadonlyMap<Block, PoolSpace> {
    const pools = new Map(before.flatMap((space) => space.blocks().map((block) => [block, space.pool])));
    const homes = new Map<Block, PoolSpace>();
    for (const block of this.#blocks.values()) {
      const space = this.#spaces.find(({ pool }) => containsPrefix(pool.prefix, block.prefix));
      if (space === undefined) continue;
      space.takeOver(block);
      homes.set(block, space);
    }
    for (const holding of [...this.#owners.values()].flat()) {
      const slot = holding.place?.slot;
      const space = slot && homes.get(slot.block);
      if (space !== undefined) settle(holding, { space, slot: slot! });
    }
    for (const [block, pool] of pools) {
      if (homes.has(block)) continue;
      const leases = this.#blockGone(block);
      this.#source.giveBack(pool, block.prefix, leases.length > 0);
    }
    return homes;
  }

  /** Asks for the blocks around foreign leases; what is claimed takes its leases in by itself. */
  #bringHome(): void {
    const foreign = [...this.#foreign.values()].map(({ address }) => address).sort(compareAddresses);
    for (const address of foreign) {
      if (!this.#borrowed.has(formatAddress(address))) this.#spaceOf(address)?.slotOf(address);
    }
  }

  dropBlock(cidr: string): Lease[] {
    const block = this.#blocks.find(cidr);
    if (block === undefined) {
      this.#forgetBorrowed(parsePrefix(cidr));
      return [];
    }
    this.#spaceOf(block.prefix.address)!.remove(block);
    return this.#blockGone(block);
  }

  /** Its leases become foreign, its borrowed addresses are forgotten. */
  #blockGone(block: Block): Lease[] {
    this.#blocks.delete(block);
    for (const { address } of this.#borrowed.values()) {
      if (findSlot(block, parseAddress(address)) !== undefined) this.#borrowed.delete(address);
    }
    for (const slot of block.slots) {
      if (slot.state === 'cooling') this.#unplaced.add(formatSlot(slot), slot.rest, slot.workload);
    }
    const owners = new Set(block.slots.filter(({ state }) => state === 'leased').map(({ owner }) => owner!));
    const lost = [...owners]
      .flatMap((owner) => this.#owners.get(owner)!)
      .filter(({ place }) => place?.slot.block === block);
    for (const holding of lost) {
      holding.place = undefined;
      this.#foreign.set(holding.lease.address, holding);
    }
    return lost.map((holding) => holding.lease);
  }

  /** Those noted of a block that never came. */
  #forgetBorrowed(prefix: Prefix): void {
    for (const { address: text } of this.#borrowed.values()) {
      const address = parseAddress(text);
      const isOfAnother = this.#spaceOf(address)?.knownSlotOf(address) !== undefined;
      if (containsAddress(prefix, address) && !isOfAnother) this.#borrowed.delete(text);
    }
  }

  reserveBorrowed(cidr: string, borrower: string, address?: string): BorrowedAddress {
    this.#wake();
    const block = this.#blocks.find(cidr) ?? this.#claimWhole(cidr);
    if (block === undefined) throw blockUnknown(cidr);
    const space = this.#spaceOf(block.prefix.address)!;
    const slot = chooseBorrowed(space, block, address, this.#time);
    return this.#reserveSlot({ space, slot }, borrower);
  }

  /** A block that is owned, but was not needed yet. */
  #claimWhole(cidr: string): Block | undefined {
    const prefix = parsePrefix(cidr);
    const block = this.#spaceOf(prefix.address)?.slotOf(prefix.address)?.block;
    return block?.cidr === formatPrefix(prefix) ? block : undefined;
  }

  #reserveSlot({ space, slot }: Place, borrower: string): BorrowedAddress {
    const entry = { address: formatSlot(slot), borrower };
    space.lend(slot, borrower);
    this.#borrowed.set(entry.address, entry);
    return entry;
  }

  markBorrowed({ address: given, borrower }: BorrowedAddress): void {
    this.#wake();
    const address = parseAddress(given);
    const text = formatAddress(address);
    const space = this.#spaceOf(address);
    const owner = this.#ownerOf(address, space);
    if (this.#borrowed.get(text)?.borrower !== borrower) {
      const slot = owner === undefined ? space?.knownSlotOf(address) : undefined;
      this.#borrowed.set(text, { address: text, borrower });
      if (slot?.state === 'lent') space!.release(slot, this.#nextRest());
      if (slot !== undefined) space!.lend(slot, borrower);
    }
    // It is lent all the same, from the end of that lease on.
    if (owner !== undefined) throw addressInUse(text, space?.pool.name ?? '(none)', owner);
  }

  unmarkBorrowed(text: string): void {
    const address = parseAddress(text);
    if (!this.#borrowed.delete(formatAddress(address))) return;
    this.#time.read();
    const space = this.#spaceOf(address);
    const slot = space?.knownSlotOf(address);
    const rest = this.#nextRest();
    if (slot?.state === 'lent') space!.release(slot, rest);
    if (slot?.state !== 'cooling') this.#unplaced.add(formatAddress(address), rest, undefined);
    if (slot === undefined) return;
    const foreign = this.#foreign.get(formatAddress(address));
    if (foreign !== undefined) this.#settleForeign(foreign, { space: space!, slot });
  }

  borrowed(): readonly BorrowedAddress[] {
    return [...this.#borrowed.values()];
  }

  keep(text: string, workload: string | undefined): void {
    const address = parseAddress(text);
    const canonical = formatAddress(address);
    if (workload === undefined) this.#kept.delete(canonical);
    else this.#kept.set(canonical, workload);
    const space = this.#spaceOf(address);
    const slot = space?.knownSlotOf(address);
    if (slot !== undefined && slot.keptFor !== workload) space!.keep(slot, workload);
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
    this.#unplaced.wake(this.#time.elapsed);
  }

  #spaceOf(address: Address): PoolSpace | undefined {
    return this.#spaces.find((space) => containsAddress(space.pool.prefix, address));
  }

  /** A block that was another's when a lease in it was adopted may become ours later: it must know that lease. */
  #blockClaimed(space: PoolSpace, block: Block): void {
    this.#blocks.add(block);
    if (this.#kept.size > 0) this.#keepSlots(space, block);
    for (const entry of this.#borrowed.values()) {
      const slot = findSlot(block, parseAddress(entry.address));
      if (slot !== undefined) space.lend(slot, entry.borrower);
    }
    for (const holding of this.#foreign.values()) {
      const slot = findSlot(block, holding.address);
      if (slot !== undefined && slot.state !== 'lent') this.#settleForeign(holding, { space, slot });
    }
    this.#unplaced.place(space, block);
  }

  #keepSlots(space: PoolSpace, block: Block): void {
    for (const slot of block.slots) {
      const workload = this.#kept.get(formatSlot(slot));
      if (workload !== undefined) space.keep(slot, workload);
    }
  }

  #settleForeign(holding: Holding, place: Place): void {
    place.space.take(place.slot, holding.lease.owner, holding.lease.workload);
    settle(holding, place);
    this.#foreign.delete(holding.lease.address);
  }
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
