import {
  type Address,
  type Family,
  formatAddress,
  parseAddress,
  parseInterfaceAddress,
  parsePrefix,
  formatPrefix,
} from '@podwire/addresses';
import { describeError, PodwireError } from '@podwire/errors';
import type { LeaseRequest } from './contract.js';
import type { PoolSpace } from './pool-space.js';

/** A request after reading: what is asked for, and where it may come from. */
export interface Wanted {
  readonly owner: string;
  /** Without duplicates; undefined when the request leaves them open. */
  readonly named: readonly Family[] | undefined;
  readonly families: readonly Family[];
  readonly requested: ReadonlyMap<Family, Address>;
  readonly preferred: readonly Address[];
  readonly workload: string | undefined;
  /** In order; also disabled ones. */
  readonly spaces: readonly PoolSpace[];
  /** True if `spaces` is a choice of the request. */
  readonly restricted: boolean;
}

const nothingRequested: ReadonlyMap<Family, Address> = new Map();
const nothingPreferred: readonly Address[] = [];

/** @throws PodwireError REQUEST_INVALID */
export function readRequest(request: LeaseRequest, all: readonly PoolSpace[]): Wanted {
  if (request.owner === '') throw new PodwireError('REQUEST_INVALID', 'a lease needs an owner');
  const restricted = request.pools !== undefined && request.pools.length > 0;
  const spaces = restricted ? choosePools(request.pools, all) : all;
  const requested = readRequested(request.requested ?? []);
  const preferred = request.preferred === undefined ? nothingPreferred : request.preferred.map(readAddress);
  const named = request.families && [...new Set(request.families)].sort();
  if (named?.length === 0) throw new PodwireError('REQUEST_INVALID', 'a lease needs an address family');
  const families = named ?? familiesOf(spaces, requested, restricted);
  for (const [family, address] of requested) {
    if (families.includes(family)) continue;
    throw new PodwireError(
      'REQUEST_INVALID',
      `${formatAddress(address)} is requested, but IPv${family} is not wanted`,
    );
  }
  const { owner, workload } = request;
  return { owner, workload, named, families, requested, preferred, spaces, restricted };
}

/** Reports if any address of the pool will do: it is enabled, and automatic or requested. */
export function isOffered({ pool }: PoolSpace, restricted: boolean): boolean {
  return !pool.disabled && (restricted || pool.assignment === 'automatic');
}

function familiesOf(
  spaces: readonly PoolSpace[],
  requested: ReadonlyMap<Family, Address>,
  restricted: boolean,
): Family[] {
  const families: Family[] = [];
  for (const family of [4, 6] as const) {
    const offered = spaces.some(
      (space) => space.pool.prefix.family === family && isOffered(space, restricted),
    );
    if (offered || requested.has(family)) families.push(family);
  }
  return families;
}

function choosePools(names: readonly string[], all: readonly PoolSpace[]): PoolSpace[] {
  const chosen = new Set(names.map((name) => findPool(name, all)));
  return all.filter((space) => chosen.has(space));
}

function findPool(name: string, all: readonly PoolSpace[]): PoolSpace {
  const cidr = canonicalPrefix(name);
  const found =
    all.find((space) => space.pool.name === name) ?? all.find((space) => space.pool.cidr === cidr);
  if (found !== undefined) return found;
  const pools = all.map(({ pool }) => describePool(pool));
  throw new PodwireError(
    'REQUEST_INVALID',
    `there is no pool ${JSON.stringify(name)}; there are: ${pools.join(', ') || 'none'}`,
    { details: { pool: name, pools } },
  );
}

function canonicalPrefix(text: string): string | undefined {
  try {
    return formatPrefix(parsePrefix(text));
  } catch {
    return undefined;
  }
}

export function describePool(pool: { readonly name: string; readonly cidr: string }): string {
  return pool.name === pool.cidr ? pool.cidr : `${pool.name} (${pool.cidr})`;
}

function readRequested(texts: readonly string[]): ReadonlyMap<Family, Address> {
  if (texts.length === 0) return nothingRequested;
  const requested = new Map<Family, Address>();
  for (const text of texts) {
    const address = readAddress(text);
    const other = requested.get(address.family);
    if (other !== undefined && other.value !== address.value) {
      throw new PodwireError(
        'REQUEST_INVALID',
        `two IPv${address.family} addresses are requested: ${formatAddress(other)} and ${formatAddress(address)}`,
      );
    }
    requested.set(address.family, address);
  }
  return requested;
}

function readAddress(text: string): Address {
  try {
    return text.includes('/') ? parseInterfaceAddress(text).address : parseAddress(text);
  } catch (error) {
    throw new PodwireError('REQUEST_INVALID', `requested address: ${describeError(error)}`, { cause: error });
  }
}
