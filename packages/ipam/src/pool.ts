import {
  addressAt,
  type Address,
  addressBits,
  type Family,
  formatPrefix,
  hostPrefix,
  parseAddress,
  parsePrefix,
  type Prefix,
} from '@podwire/addresses';
import type { AddressRange, Pool, PoolSpec } from './contract.js';
import { clipRange, mergeRanges, rangeOf, rangesWithin } from './ranges.js';

/** The prefix length of blocks where nothing is configured, as Calico has it. */
export function defaultBlockSize(family: Family): number {
  return family === 4 ? 26 : 122;
}

/** Reads a specification. @throws RangeError; `validatePools` says beforehand what is wrong, and where. */
export function readPool(spec: PoolSpec): Pool {
  const prefix = parsePrefix(spec.cidr);
  const bounds = rangeOf(prefix);
  const clip = (text: string): AddressRange[] => {
    const range = clipRange(rangeOf(parseReserved(text)), bounds);
    return range === undefined ? [] : [range];
  };
  const reserved = (spec.reserved ?? []).flatMap(clip);
  const taken = (spec.taken ?? []).flatMap(({ cidr, why }) => clip(cidr).map((range) => ({ ...range, why })));
  return {
    name: spec.name,
    cidr: formatPrefix(prefix),
    prefix,
    blockSize: spec.blockSize,
    reserved: mergeRanges([...reserved, ...taken, ...conventionallyUnused(prefix)]),
    taken,
    disabled: spec.disabled ?? false,
    whyDisabled: spec.whyDisabled ?? 'is disabled',
    assignment: spec.assignment ?? 'automatic',
    allocation: spec.allocation ?? 'blocks',
  };
}

/** A prefix, or a single address as a prefix of full length. @throws RangeError naming the text. */
export function parseReserved(text: string): Prefix {
  return text.includes('/') ? parsePrefix(text) : hostPrefix(parseAddress(text));
}

/**
 * The first address of a pool (network; subnet-router anycast, RFC 4291 §2.6.1) and the last of an IPv4 pool
 * (broadcast): docs/decisions/0005. Not of blocks, and not of pools so small that they have none (RFC 3021, RFC 6164).
 */
function conventionallyUnused(prefix: Prefix): AddressRange[] {
  if (addressBits(prefix.family) - prefix.length < 2) return [];
  const { first, last } = rangeOf(prefix);
  const network = { first, last: first };
  return prefix.family === 4 ? [network, { first: last, last }] : [network];
}

/** Addresses of a block of this pool that are not allocated: sorted, disjoint. */
export function reservedWithin(pool: Pool, block: Prefix): AddressRange[] {
  const ranges = reservedByPool(pool, block);
  if (pool.allocation === 'blocks') return ranges;
  return mergeRanges([...ranges, ...conventionallyUnused(block), ...gatewayRange(block)]);
}

/** A block that was claimed before its pool had gateways may be too small for one. */
function gatewayRange(block: Prefix): AddressRange[] {
  if (addressBits(block.family) - block.length < 2) return [];
  const { value } = gatewayOf(block);
  return [{ first: value, last: value }];
}

/** The gateway on the link of a `node-cidr` block: the address behind the network's own, as `host-local` chooses it. */
export const gatewayOf = (block: Prefix): Address => addressAt(block.address, 1);

/** Addresses of it that lie in the reserved ranges of the pool. */
export function reservedByPool(pool: Pool, block: Prefix): AddressRange[] {
  const bounds = rangeOf(block);
  return rangesWithin(pool.reserved, bounds).map((range) => clipRange(range, bounds)!);
}

/** Of an address of a block that may not be owned: then only what the pool's ranges say. */
export function isReserved(pool: Pool, address: Address): boolean {
  return rangesWithin(pool.reserved, { first: address.value, last: address.value }).length > 0;
}

/** User of an address that the pool's own settings do not reserve, in words. */
export function whyTaken({ taken }: Pool, { value }: Address): string | undefined {
  return taken.find(({ first, last }) => first <= value && value <= last)?.why;
}
