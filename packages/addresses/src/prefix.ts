import {
  type Address,
  addressAt,
  addressBits,
  type Family,
  formatAddress,
  quote,
  tryParseAddress,
} from './address.js';

/** A CIDR prefix; `address` has no bits set beyond `length`. */
export interface Prefix {
  readonly family: Family;
  readonly address: Address;
  readonly length: number;
}

/** An address with the length of the subnet it is in: `10.0.3.7/24`, as in CNI's `ips[].address`. */
export interface InterfaceAddress {
  readonly address: Address;
  readonly length: number;
}

/**
 * Parses `ADDRESS/LENGTH` and keeps the bits beyond the length. The length is decimal without leading zeros.
 * @throws RangeError naming the text.
 */
export function parseInterfaceAddress(text: string): InterfaceAddress {
  const slash = text.indexOf('/');
  const address = slash < 0 ? undefined : tryParseAddress(text.slice(0, slash));
  const digits = text.slice(slash + 1);
  if (address === undefined || !/^(?:0|[1-9]\d{0,2})$/.test(digits)) {
    throw new RangeError(`not a prefix (ADDRESS/LENGTH): ${quote(text)}`);
  }
  if (Number(digits) > addressBits(address.family)) {
    throw new RangeError(`${text} has a length above ${addressBits(address.family)}`);
  }
  return { address, length: Number(digits) };
}

/**
 * Parses `10.0.0.0/8`. Bits beyond the length are an error unless `loose`, which clears them.
 * @throws RangeError naming the text.
 */
export function parsePrefix(text: string, options: { loose?: boolean } = {}): Prefix {
  const { address, length } = parseInterfaceAddress(text);
  const prefix = prefixOf(address, length);
  if (options.loose !== true && prefix.address.value !== address.value) {
    throw new RangeError(`${text} has bits set beyond its length; the prefix is ${formatPrefix(prefix)}`);
  }
  return prefix;
}

/** The prefix of `length` that `address` lies in. @throws RangeError for a length outside the family. */
export function prefixOf(address: Address, length: number): Prefix {
  const free = freeBits(address.family, length);
  const value = (address.value >> free) << free;
  return { family: address.family, address: { family: address.family, value }, length };
}

function freeBits(family: Family, length: number): bigint {
  const bits = addressBits(family);
  if (!Number.isInteger(length) || length < 0 || length > bits) {
    throw new RangeError(`a prefix length of ${length} for IPv${family}`);
  }
  return BigInt(bits - length);
}

/** The address alone as a prefix: /32 or /128. */
export function hostPrefix(address: Address): Prefix {
  return { family: address.family, address, length: addressBits(address.family) };
}

export function formatPrefix(prefix: Prefix): string {
  return `${formatAddress(prefix.address)}/${prefix.length}`;
}

/** The number of addresses in the prefix. */
export function prefixSize(prefix: Prefix): bigint {
  return 1n << BigInt(addressBits(prefix.family) - prefix.length);
}

export function lastAddress(prefix: Prefix): Address {
  return addressAt(prefix.address, prefixSize(prefix) - 1n);
}

export function containsAddress(prefix: Prefix, address: Address): boolean {
  if (prefix.family !== address.family) return false;
  const free = BigInt(addressBits(prefix.family) - prefix.length);
  return prefix.address.value >> free === address.value >> free;
}

export function containsPrefix(outer: Prefix, inner: Prefix): boolean {
  return outer.length <= inner.length && containsAddress(outer, inner.address);
}

export function overlaps(a: Prefix, b: Prefix): boolean {
  return containsPrefix(a, b) || containsPrefix(b, a);
}

/**
 * The sub-prefixes of `length`, in order, lazily: a /48 has very many.
 * @throws RangeError for a length that is shorter than the prefix or outside the family.
 */
export function splitPrefix(prefix: Prefix, length: number): Generator<Prefix> {
  if (length < prefix.length) throw new RangeError(`cannot split a /${prefix.length} into /${length}`);
  return subPrefixes(prefix, length, 1n << freeBits(prefix.family, length));
}

function* subPrefixes(prefix: Prefix, length: number, step: bigint): Generator<Prefix> {
  for (let offset = 0n; offset < prefixSize(prefix); offset += step) {
    yield prefixOf(addressAt(prefix.address, offset), length);
  }
}
