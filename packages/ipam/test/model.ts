/**
 * IPAM as simply as it can be said: lists of strings, searched from the front every time. Slow, and for small pools
 * only; the judge of the real one.
 */
import { addressAt, containsAddress, formatAddress, parseAddress, parsePrefix } from '@podwire/addresses';
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
  cooling: { address: string; until: number }[];
}

export class Model {
  readonly pools: readonly ModelPool[];
  readonly coolDown: number;
  now = 0;
  /** Address to owner, in the order of taking. */
  readonly taken = new Map<string, string>();
  readonly order: string[] = [];

  constructor(specs: readonly PoolSpec[], coolDown: number) {
    this.pools = specs.map(readSpec);
    this.coolDown = coolDown;
  }

  held(owner: string): string[] {
    return [...this.taken].filter(([, has]) => has === owner).map(([address]) => address);
  }

  allocate(request: LeaseRequest): string[] {
    this.wake();
    const pools = this.pools.filter(({ spec }) => request.pools?.includes(spec.name) ?? true);
    const requested = request.requested ?? [];
    const offered = [4, 6].filter(
      (family) =>
        pools.some((pool) => pool.family === family && !pool.spec.disabled) ||
        requested.some((text) => familyOf(text) === family),
    );
    const families = [...(request.families ?? offered)].sort();
    if (requested.some((text) => !families.includes(familyOf(text)))) fail('REQUEST_INVALID');
    const held = this.held(request.owner);
    if (held.length > 0) return this.again(request, held, pools);
    if (families.length === 0) fail('POOL_EXHAUSTED');
    const pinned = requested.map((text) => this.pick(text, pools));
    const addresses = families.map(
      (family) => pinned.find((text) => familyOf(text) === family) ?? this.next(family, pools),
    );
    for (const address of addresses) this.take(address, request.owner);
    return addresses;
  }

  private again(request: LeaseRequest, held: string[], pools: readonly ModelPool[]): string[] {
    const has = [...new Set(held.map(familyOf))].sort().join();
    const families = request.families === undefined || [...request.families].sort().join() === has;
    const allowed = request.pools === undefined || held.every((text) => pools.includes(this.poolOf(text)!));
    const requested = (request.requested ?? []).every((text) => held.includes(text));
    return families && allowed && requested ? held : fail('ENDPOINT_EXISTS');
  }

  private pick(address: string, pools: readonly ModelPool[]): string {
    const pool = this.poolOf(address);
    if (pool === undefined || !pools.includes(pool)) return fail('ADDRESS_NOT_IN_POOL');
    if (this.taken.has(address)) return fail('ADDRESS_IN_USE');
    if (pool.spec.disabled || pool.reserved.has(address)) return fail('ADDRESS_NOT_IN_POOL');
    this.blockOf(pool, address);
    return pool.cooling.some((rest) => rest.address === address) ? fail('ADDRESS_IN_USE') : address;
  }

  private next(family: number, pools: readonly ModelPool[]): string {
    for (const pool of pools) {
      if (pool.family !== family || pool.spec.disabled) continue;
      const open = pool.owned.find((block) => block.free.length > 0) ?? this.claimNext(pool);
      if (open !== undefined) return open.free[0]!;
    }
    return fail('POOL_EXHAUSTED');
  }

  private claimNext(pool: ModelPool): ModelBlock | undefined {
    const addresses = pool.possible.find(
      (block) => !block.every((text) => pool.reserved.has(text)) && !isOwned(pool, block[0]!),
    );
    return addresses && this.claim(pool, addresses);
  }

  private claim(pool: ModelPool, addresses: readonly string[]): ModelBlock {
    const block = { addresses, free: addresses.filter((text) => !pool.reserved.has(text)) };
    pool.owned.push(block);
    this.order.push(addresses[0]!);
    return block;
  }

  private blockOf(pool: ModelPool, address: string): ModelBlock {
    const owned = pool.owned.find((block) => block.addresses.includes(address));
    return (
      owned ??
      this.claim(
        pool,
        pool.possible.find((block) => block.includes(address))!,
      )
    );
  }

  private take(address: string, owner: string): void {
    this.taken.set(address, owner);
    const pool = this.poolOf(address);
    if (pool === undefined) return;
    const block = this.blockOf(pool, address);
    block.free = block.free.filter((text) => text !== address);
    pool.cooling = pool.cooling.filter((rest) => rest.address !== address);
  }

  adopt(address: string, owner: string): 'pool' | 'foreign' {
    this.wake();
    const has = this.taken.get(address);
    if (has !== undefined && has !== owner) fail('ADDRESS_IN_USE');
    if (has === undefined) this.take(address, owner);
    return this.poolOf(address) === undefined ? 'foreign' : 'pool';
  }

  release(owner: string): string[] {
    const held = this.held(owner);
    for (const address of held) {
      this.taken.delete(address);
      const pool = this.poolOf(address);
      if (pool === undefined || pool.reserved.has(address)) continue;
      pool.cooling.push({ address, until: this.now + this.coolDown });
    }
    return held;
  }

  releaseEmptyBlocks(): string[] {
    this.wake();
    return this.pools.flatMap((pool) => {
      const resting = pool.cooling.map((rest) => rest.address);
      const empty = pool.owned.filter(
        (block) => !block.addresses.some((text) => this.taken.has(text) || resting.includes(text)),
      );
      const gone = pool.spec.disabled ? empty : empty.slice(1);
      pool.owned = pool.owned.filter((block) => !gone.includes(block));
      for (const block of gone) this.order.splice(this.order.indexOf(block.addresses[0]!), 1);
      return gone.map((block) => block.addresses[0]!);
    });
  }

  /** What has rested long enough goes behind the free addresses of its block, the first released first. */
  wake(): void {
    for (const pool of this.pools) {
      for (const rest of pool.cooling.filter(({ until }) => until <= this.now)) {
        this.blockOf(pool, rest.address).free.push(rest.address);
      }
      pool.cooling = pool.cooling.filter(({ until }) => until > this.now);
    }
  }

  poolOf(address: string): ModelPool | undefined {
    return this.pools.find((pool) => pool.all.includes(address));
  }
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
  return { spec, family: prefix.family, all, possible, reserved: new Set(reserved), owned: [], cooling: [] };
}

function isOwned(pool: ModelPool, first: string): boolean {
  return pool.owned.some((block) => block.addresses[0] === first);
}

function familyOf(text: string): 4 | 6 {
  return text.includes(':') ? 6 : 4;
}

function fail(code: PodwireError['code']): never {
  throw new PodwireError(code, 'model');
}
