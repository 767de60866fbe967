/**
 * IPAM as simply as it can be said: lists of strings, searched from the front every time. Slow, and for small pools
 * only; what the real one is compared with.
 */
import {
  addressAt,
  compareAddresses,
  containsAddress,
  formatAddress,
  parseAddress,
  parsePrefix,
} from '@podwire/addresses';
import type { LeaseRequest, PoolSpec } from '@podwire/ipam';
import { PodwireError } from '@podwire/errors';

interface ModelBlock {
  readonly addresses: readonly string[];
  /** Longest free first. */
  free: string[];
}

interface ModelPool {
  readonly spec: PoolSpec;
  readonly family: 4 | 6;
  readonly all: readonly string[];
  /** All addresses, block by block. */
  readonly possible: readonly (readonly string[])[];
  readonly reserved: ReadonlySet<string>;
  owned: ModelBlock[];
}

export class Model {
  pools: readonly ModelPool[];
  readonly coolDown: number;
  now = 0;
  /** Address to owner, in the order of taking. */
  readonly taken = new Map<string, string>();
  /** First addresses of the blocks that are owned, in claim order. */
  readonly order: string[] = [];
  /** Address to the node that has it. */
  readonly lent = new Map<string, string>();
  /** In the order of their release; also of blocks that are not owned. */
  cooling: { address: string; until: number }[] = [];
  /** Blocks that were taken away and are not to be had. */
  lost: (readonly string[])[] = [];
  /** Workload of each address that is in use or cooling. */
  readonly workloads = new Map<string, string>();

  constructor(specs: readonly PoolSpec[], coolDown: number) {
    this.pools = specs.map(readSpec);
    this.coolDown = coolDown;
  }

  held(owner: string): string[] {
    return [...this.taken].filter(([, has]) => has === owner).map(([address]) => address);
  }

  foreign(): string[] {
    return [...this.taken.keys()].filter((text) => this.known(text) === undefined || this.lent.has(text));
  }

  allocate(request: LeaseRequest): string[] {
    this.wake();
    if (request.pools?.some((name) => !this.pools.some(({ spec }) => spec.name === name))) {
      fail('REQUEST_INVALID');
    }
    const pools = this.pools.filter(({ spec }) => request.pools?.includes(spec.name) ?? true);
    const offers = (pool: ModelPool): boolean =>
      !pool.spec.disabled && (request.pools !== undefined || pool.spec.assignment !== 'manual');
    const requested = request.requested ?? [];
    const offered = [4, 6].filter(
      (family) =>
        pools.some((pool) => pool.family === family && offers(pool)) ||
        requested.some((text) => familyOf(text) === family),
    );
    const families = [...(request.families ?? offered)].sort();
    if (requested.some((text) => !families.includes(familyOf(text)))) fail('REQUEST_INVALID');
    const held = this.held(request.owner);
    if (held.length > 0) return this.again(request, held, pools);
    if (families.length === 0) fail('POOL_EXHAUSTED');
    const pinned = requested.map((text) => this.pick(text, pools, request.workload));
    const addresses = families.map(
      (family) =>
        pinned.find((text) => familyOf(text) === family) ??
        this.like(family, request, pools) ??
        this.next(family, pools.filter(offers)),
    );
    for (const address of addresses) {
      this.take(address, request.owner);
      if (request.workload !== undefined) this.workloads.set(address, request.workload);
    }
    return addresses;
  }

  private again(request: LeaseRequest, held: string[], pools: readonly ModelPool[]): string[] {
    const has = [...new Set(held.map(familyOf))].sort().join();
    const families = request.families === undefined || [...request.families].sort().join() === has;
    const foreign = this.foreign();
    const allowed =
      request.pools === undefined ||
      held.every((text) => !foreign.includes(text) && pools.includes(this.poolOf(text)!));
    const requested = (request.requested ?? []).every((text) => held.includes(text));
    return families && allowed && requested ? held : fail('ENDPOINT_EXISTS');
  }

  private pick(address: string, pools: readonly ModelPool[], workload: string | undefined): string {
    const pool = this.poolOf(address);
    if (pool === undefined || !pools.includes(pool)) return fail('ADDRESS_NOT_IN_POOL');
    if (this.taken.has(address) || this.lent.has(address)) return fail('ADDRESS_IN_USE');
    if (pool.spec.disabled || pool.reserved.has(address)) return fail('ADDRESS_NOT_IN_POOL');
    const block = this.blockOf(pool, address);
    if (block === undefined) return fail('ADDRESS_IN_USE');
    if (isReserved(pool, block, address)) return fail('ADDRESS_NOT_IN_POOL');
    return this.mayHave(address, workload) ? address : fail('ADDRESS_IN_USE');
  }

  private like(family: number, request: LeaseRequest, pools: readonly ModelPool[]): string | undefined {
    return (request.preferred ?? []).find((text) => {
      const pool = this.poolOf(text);
      if (familyOf(text) !== family || pool === undefined || !pools.includes(pool)) return false;
      if (pool.spec.disabled || pool.reserved.has(text)) return false;
      if (this.foreign().includes(text)) return false;
      const block = this.blockOf(pool, text);
      if (block === undefined || this.taken.has(text) || this.lent.has(text)) return false;
      return !isReserved(pool, block, text) && this.mayHave(text, request.workload);
    });
  }

  rests(address: string): boolean {
    return this.cooling.some((rest) => rest.address === address);
  }

  private mayHave(address: string, workload: string | undefined): boolean {
    if (!this.rests(address)) return true;
    return workload !== undefined && this.workloads.get(address) === workload;
  }

  private next(family: number, pools: readonly ModelPool[]): string {
    for (const pool of pools) {
      if (pool.family !== family) continue;
      let open = pool.owned.find((block) => block.free.length > 0);
      while (open === undefined) {
        const claimed = this.claimNext(pool);
        if (claimed === undefined) break;
        if (claimed.free.length > 0) open = claimed;
      }
      if (open !== undefined) return open.free[0]!;
    }
    return fail('POOL_EXHAUSTED');
  }

  private claimNext(pool: ModelPool): ModelBlock | undefined {
    const addresses = pool.possible.find(
      (block) => !block.every((text) => pool.reserved.has(text)) && this.isFree(block),
    );
    return addresses && this.claim(pool, addresses);
  }

  /** Reports if it shares nothing with blocks that are owned, or lost. */
  private isFree(addresses: readonly string[]): boolean {
    const owned = this.pools.flatMap((pool) => pool.owned.map((block) => block.addresses));
    return ![...owned, ...this.lost].some((block) => block.some((text) => addresses.includes(text)));
  }

  /** Addresses in it that were foreign, or lent before it came, are not free. */
  private claim(pool: ModelPool, addresses: readonly string[]): ModelBlock {
    const block: ModelBlock = { addresses, free: [] };
    const free = (text: string): boolean =>
      !isReserved(pool, block, text) && !this.taken.has(text) && !this.lent.has(text);
    block.free = addresses.filter((text) => free(text) && !this.rests(text));
    pool.owned.push(block);
    this.order.push(addresses[0]!);
    this.forgetHeldRests([block]);
    return block;
  }

  private blockOf(pool: ModelPool, address: string): ModelBlock | undefined {
    const owned = pool.owned.find((block) => block.addresses.includes(address));
    if (owned !== undefined) return owned;
    const around = pool.possible.find((block) => block.includes(address))!;
    return this.isFree(around) ? this.claim(pool, around) : undefined;
  }

  /** The block that is owned around the address. */
  private known(address: string): ModelBlock | undefined {
    return this.poolOf(address)?.owned.find((block) => block.addresses.includes(address));
  }

  private take(address: string, owner: string): void {
    this.taken.set(address, owner);
    this.workloads.delete(address);
    const pool = this.poolOf(address);
    if (pool === undefined || this.lent.has(address)) return;
    const block = this.blockOf(pool, address);
    if (block === undefined) return;
    block.free = block.free.filter((text) => text !== address);
    this.cooling = this.cooling.filter((rest) => rest.address !== address);
  }

  adopt(address: string, owner: string): 'pool' | 'foreign' {
    this.wake();
    const has = this.taken.get(address);
    if (has !== undefined && has !== owner) fail('ADDRESS_IN_USE');
    const pool = this.lent.has(address) ? undefined : this.poolOf(address);
    if (has === undefined) this.take(address, owner);
    else if (pool !== undefined) this.blockOf(pool, address);
    return this.foreign().includes(address) ? 'foreign' : 'pool';
  }

  release(owner: string): string[] {
    const held = this.held(owner);
    for (const address of held) {
      this.taken.delete(address);
      this.rest(address);
    }
    return held;
  }

  private rest(address: string): void {
    this.cooling = this.cooling.filter((rest) => rest.address !== address);
    this.cooling.push({ address, until: this.now + this.coolDown });
  }

  releaseEmptyBlocks(): string[] {
    this.wake();
    return this.pools.flatMap((pool) => {
      if (pool.spec.allocation === 'node-cidr') return [];
      const busy = (text: string): boolean =>
        this.taken.has(text) || this.lent.has(text) || this.isCooling(pool, text);
      const empty = pool.owned.filter((block) => !block.addresses.some(busy));
      const gone = pool.spec.disabled ? empty : empty.slice(1);
      for (const block of gone) this.forget(block);
      return gone.map((block) => block.addresses[0]!);
    });
  }

  private forget(block: ModelBlock): void {
    for (const pool of this.pools) pool.owned = pool.owned.filter((other) => other !== block);
    this.order.splice(this.order.indexOf(block.addresses[0]!), 1);
    for (const text of block.addresses) this.lent.delete(text);
  }

  setPools(specs: readonly PoolSpec[]): void {
    if (JSON.stringify(specs) === JSON.stringify(this.pools.map(({ spec }) => spec))) return;
    this.wake();
    const before = this.pools;
    const blocks = before.flatMap((pool) => pool.owned);
    this.pools = specs.map(readSpec);
    for (const first of [...this.order]) {
      const block = blocks.find(({ addresses }) => addresses[0] === first)!;
      const home = this.pools.find((pool) => block.addresses.every((text) => pool.all.includes(text)));
      if (home === undefined) this.forget(block);
      else
        moveBlock(
          block,
          before.find((pool) => pool.owned.includes(block))!,
          home,
        );
    }
    const foreign = this.foreign().map(parseAddress).sort(compareAddresses).map(formatAddress);
    for (const text of foreign) {
      const pool = this.lent.has(text) ? undefined : this.poolOf(text);
      if (pool !== undefined) this.blockOf(pool, text);
    }
    // Opened addresses of a block that was moved may be in use, or cooling.
    for (const block of this.pools.flatMap((pool) => pool.owned)) {
      block.free = block.free.filter(
        (text) => !this.taken.has(text) && !this.lent.has(text) && !this.rests(text),
      );
    }
    this.forgetHeldRests(this.pools.flatMap((pool) => pool.owned));
  }

  /** An address that is in use when its block comes need not rest first. A lent one is its borrower's. */
  private forgetHeldRests(blocks: readonly ModelBlock[]): void {
    const held = (text: string): boolean => this.taken.has(text) && !this.lent.has(text);
    const isIn = (text: string): boolean => blocks.some(({ addresses }) => addresses.includes(text));
    this.cooling = this.cooling.filter(({ address }) => !(held(address) && isIn(address)));
  }

  isCooling(pool: ModelPool, address: string): boolean {
    const block = this.known(address);
    return (
      block !== undefined &&
      this.rests(address) &&
      !this.lent.has(address) &&
      !isReserved(pool, block, address)
    );
  }

  dropBlock(first: string): void {
    const block = this.pools.flatMap((pool) => pool.owned).find(({ addresses }) => addresses[0] === first)!;
    this.forget(block);
    this.lost.push(block.addresses);
  }

  lend(first: string, borrower: string, address?: string): string {
    this.wake();
    const block = this.known(first)!;
    const pool = this.poolOf(first)!;
    if (pool.spec.disabled) return fail(address === undefined ? 'POOL_EXHAUSTED' : 'ADDRESS_NOT_IN_POOL');
    const text = address ?? block.free[0];
    if (text === undefined) return fail('POOL_EXHAUSTED');
    if (!block.addresses.includes(text)) return fail('ADDRESS_NOT_IN_POOL');
    if (this.taken.has(text) || this.lent.has(text)) return fail('ADDRESS_IN_USE');
    if (isReserved(pool, block, text)) return fail('ADDRESS_NOT_IN_POOL');
    if (this.rests(text)) return fail('ADDRESS_IN_USE');
    block.free = block.free.filter((free) => free !== text);
    this.lent.set(text, borrower);
    return text;
  }

  takeBack(address: string): void {
    if (!this.lent.delete(address)) return;
    this.cooling = this.cooling.filter((rest) => rest.address !== address);
    if (!this.taken.has(address)) this.rest(address);
  }

  /** An address that has rested long enough goes behind the free addresses of its block, the first released first. */
  wake(): void {
    for (const { address } of this.cooling.filter(({ until }) => until <= this.now)) {
      const block = this.known(address);
      const isHeld = this.taken.has(address) || this.lent.has(address);
      if (block !== undefined && !isHeld && !isReserved(this.poolOf(address)!, block, address))
        block.free.push(address);
      this.workloads.delete(address);
    }
    this.cooling = this.cooling.filter(({ until }) => until > this.now);
  }

  poolOf(address: string): ModelPool | undefined {
    return this.pools.find((pool) => pool.all.includes(address));
  }
}

/** Addresses that are no longer reserved are free; in order, behind those that were free before. */
function moveBlock(block: ModelBlock, from: ModelPool, to: ModelPool): void {
  const opened = block.addresses.filter(
    (text) => isReserved(from, block, text) && !isReserved(to, block, text),
  );
  block.free = [...block.free.filter((text) => !isReserved(to, block, text)), ...opened];
  to.owned.push(block);
}

function isReserved(pool: ModelPool, block: ModelBlock, address: string): boolean {
  if (pool.reserved.has(address)) return true;
  if (pool.spec.allocation !== 'node-cidr' || block.addresses.length < 4) return false;
  const [network, gateway] = block.addresses;
  return [network, gateway].includes(address) || (pool.family === 4 && address === block.addresses.at(-1));
}

function readSpec(spec: PoolSpec): ModelPool {
  const prefix = parsePrefix(spec.cidr);
  const bits = prefix.family === 4 ? 32 : 128;
  const size = 2 ** (bits - prefix.length);
  const all = Array.from({ length: size }, (_, i) => formatAddress(addressAt(prefix.address, i)));
  const length = 2 ** (bits - spec.blockSize);
  const possible = Array.from({ length: size / length }, (_, i) => all.slice(i * length, (i + 1) * length));
  const reserved = all.filter((text) =>
    (spec.reserved ?? []).some((range) =>
      range.includes('/') ? containsAddress(parsePrefix(range), parseAddress(text)) : range === text,
    ),
  );
  if (size > 2) reserved.push(all[0]!, ...(prefix.family === 4 ? [all.at(-1)!] : []));
  return { spec, family: prefix.family, all, possible, reserved: new Set(reserved), owned: [] };
}

function familyOf(text: string): 4 | 6 {
  return text.includes(':') ? 6 : 4;
}

function fail(code: PodwireError['code']): never {
  throw new PodwireError(code, 'model');
}
