import { formatIPv4, formatIPv6, parseIPv4, parseIPv6 } from './text.js';

export type Family = 4 | 6;

/** One IP address as a value: immutable, comparable with {@link compareAddresses}. */
export interface Address {
  readonly family: Family;
  /** The address as an unsigned number of 32 or 128 bits. */
  readonly value: bigint;
}

/**
 * Parses the textual form: RFC 4291 §2.2 for IPv6, four decimal numbers without leading zeros for IPv4.
 *
 * Refused, since programs disagree about them: octal and hexadecimal numbers, fewer than four numbers, zones
 * (`fe80::1%eth0`; a zone belongs to a node, not to an address), blanks around it.
 *
 * `::ffff:1.2.3.4` stays an IPv6 address and never equals `1.2.3.4`: turning one into the other in silence lets one
 * address have two owners. {@link embeddedIPv4} makes the conversion explicit.
 * @throws RangeError naming the text.
 */
export function parseAddress(text: string): Address {
  const address = tryParseAddress(text);
  if (address === undefined) throw new RangeError(`not an IP address: ${quote(text)}${hint(text)}`);
  return address;
}

/** As {@link parseAddress}; undefined for anything that is no address. */
export function tryParseAddress(text: string): Address | undefined {
  const family = familyOf(text);
  const value = family === 6 ? parseIPv6(text) : parseIPv4(text);
  return value === undefined ? undefined : { family, value };
}

/** The family of a valid address, prefix or interface address: only IPv6 texts have a colon. */
export function familyOf(text: string): Family {
  return text.includes(':') ? 6 : 4;
}

/** The first address of each family, in their order: as many as Kubernetes lets a pod and a node have. */
export function firstOfEachFamily(addresses: readonly string[]): string[] {
  return addresses.filter(
    (address, index) => addresses.findIndex((each) => familyOf(each) === familyOf(address)) === index,
  );
}

/** A host name or address as it stands in front of a port (RFC 3986 §3.2.2): `[::1]`, `127.0.0.1`. */
export function bracketHost(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

/** The text for a message: it may come from outside, so it is quoted and cut. */
export function quote(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}

function hint(text: string): string {
  if (text.includes('%')) return ' (a zone is not part of an address)';
  if (text.includes('/')) return ' (a length is not part of an address)';
  return '';
}

/** The canonical text (RFC 5952 for IPv6; IPv4-mapped addresses in the mixed form of its §5). */
export function formatAddress(address: Address): string {
  return address.family === 4 ? formatIPv4(Number(address.value)) : formatIPv6(address.value);
}

/** The IPv4 address inside an IPv4-mapped one (`::ffff:0:0/96`, RFC 4291 §2.5.5.2); undefined for all others. */
export function embeddedIPv4(address: Address): Address | undefined {
  if (address.family !== 6 || address.value >> 32n !== 0xffffn) return undefined;
  return { family: 4, value: BigInt.asUintN(32, address.value) };
}

/** Network byte order, 4 or 16 bytes. */
export function addressToBytes(address: Address): Uint8Array {
  const bytes = new Uint8Array(address.family === 4 ? 4 : 16);
  const view = new DataView(bytes.buffer);
  if (address.family === 4) view.setUint32(0, Number(address.value));
  else {
    view.setBigUint64(0, address.value >> 64n);
    view.setBigUint64(8, BigInt.asUintN(64, address.value));
  }
  return bytes;
}

/** @throws RangeError unless there are 4 or 16 bytes. */
export function addressFromBytes(bytes: Uint8Array): Address {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length === 4) return { family: 4, value: BigInt(view.getUint32(0)) };
  if (bytes.length === 16) return { family: 6, value: (view.getBigUint64(0) << 64n) | view.getBigUint64(8) };
  throw new RangeError(`an address of ${bytes.length} bytes`);
}

/** Orders IPv4 before IPv6, then by number. */
export function compareAddresses(a: Address, b: Address): number {
  if (a.family !== b.family) return a.family - b.family;
  return a.value < b.value ? -1 : a.value > b.value ? 1 : 0;
}

/** The number of bits of an address: 32 or 128. */
export function addressBits(family: Family): 32 | 128 {
  return family === 4 ? 32 : 128;
}

/** The address `offset` after `base` (before it when negative). @throws RangeError beyond the family's range. */
export function addressAt(base: Address, offset: bigint | number): Address {
  const value = base.value + BigInt(offset);
  if (value < 0n || value >> BigInt(addressBits(base.family)) !== 0n) {
    throw new RangeError(`no IPv${base.family} address ${offset} after ${formatAddress(base)}`);
  }
  return { family: base.family, value };
}

/** A string that is the same for equal addresses, for keys of maps. */
export function addressKey(address: Address): string {
  return `${address.family}/${address.value.toString(16)}`;
}
