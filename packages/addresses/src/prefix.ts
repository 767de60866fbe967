import { type Address, addressAt, type Family, formatAddress, parseAddress } from './address.js';

/** A CIDR prefix; `address` has no bits set beyond `length`. */
export interface Prefix {
  readonly family: Family;
  readonly address: Address;
  readonly length: number;
}

const bitsOf = (family: Family): number => (family === 4 ? 32 : 128);

/**
 * Parses `10.0.0.0/8`. Bits beyond the length are an error unless `loose`, which clears them.
 * @throws RangeError naming the text.
 */
export function parsePrefix(text: string, options: { loose?: boolean } = {}): Prefix {
  const match = /^([^/]+)\/(0|[1-9]\d{0,2})$/.exec(text);
  if (match === null) throw new RangeError(`not a prefix (ADDRESS/LENGTH): ${JSON.stringify(text)}`);
  const address = parseAddress(match[1]!);
  const prefix = prefixOf(address, Number(match[2]));
  if (!options.loose && prefix.address.value !== address.value) {
    throw new RangeError(`${text} has bits set beyond its length; the prefix is ${formatPrefix(prefix)}`);
  }
  return prefix;
}

/** The prefix of `length` that `address` lies in. @throws RangeError for a length outside the family. */
export function prefixOf(address: Address, length: number): Prefix {
  const bits = bitsOf(address.family);
  if (!Number.isInteger(length) || length < 0 || length > bits) {
    throw new RangeError(`a prefix length of ${length} for IPv${address.family}`);
  }
  const free = BigInt(bits - length);
  const value = (address.value >> free) << free;
  return { family: address.family, address: { family: address.family, value }, length };
}

/** The address alone as a prefix: /32 or /128. */
export function hostPrefix(address: Address): Prefix {
  return { family: address.family, address, length: bitsOf(address.family) };
}

export function formatPrefix(prefix: Prefix): string {
  return `${formatAddress(prefix.address)}/${prefix.length}`;
}

/** How many addresses the prefix holds. */
export function prefixSize(prefix: Prefix): bigint {
  return 1n << BigInt(bitsOf(prefix.family) - prefix.length);
}

export function lastAddress(prefix: Prefix): Address {
  return addressAt(prefix.address, prefixSize(prefix) - 1n);
}

export function containsAddress(prefix: Prefix, address: Address): boolean {
  if (prefix.family !== address.family) return false;
  const free = BigInt(bitsOf(prefix.family) - prefix.length);
  return prefix.address.value >> free === address.value >> free;
}

export function containsPrefix(outer: Prefix, inner: Prefix): boolean {
  return outer.length <= inner.length && containsAddress(outer, inner.address);
}

export function overlaps(a: Prefix, b: Prefix): boolean {
  return containsPrefix(a, b) || containsPrefix(b, a);
}

/** The sub-prefixes of `length`, in order, lazily: a /48 has very many. */
export function* splitPrefix(prefix: Prefix, length: number): Generator<Prefix> {
  if (length < prefix.length) throw new RangeError(`cannot split a /${prefix.length} into /${length}`);
  const step = 1n << BigInt(bitsOf(prefix.family) - length);
  for (let offset = 0n; offset < prefixSize(prefix); offset += step) {
    yield prefixOf(addressAt(prefix.address, offset), length);
  }
}
