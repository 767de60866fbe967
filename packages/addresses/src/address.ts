import { Address4, Address6 } from 'ip-address';

export type Family = 4 | 6;

/** One IP address as a value: immutable, comparable with {@link compareAddresses}. */
export interface Address {
  readonly family: Family;
  /** The address as an unsigned number of 32 or 128 bits. */
  readonly value: bigint;
}

/**
 * Parses the textual form (RFC 4291 §2.2 for IPv6; strict dotted quad, no leading zeros, for IPv4).
 * @throws RangeError naming the text.
 */
export function parseAddress(text: string): Address {
  const address = tryParse(text);
  if (address === undefined) throw new RangeError(`not an IP address: ${JSON.stringify(text)}`);
  return address;
}

const dottedQuad = /^(0|[1-9]\d{0,2})(\.(0|[1-9]\d{0,2})){3}$/;
const colonHex = /^[0-9a-fA-F:.]+$/;

function tryParse(text: string): Address | undefined {
  if (dottedQuad.test(text) && Address4.isValid(text)) {
    return { family: 4, value: new Address4(text).bigInt() };
  }
  if (text.includes(':') && colonHex.test(text) && Address6.isValid(text)) {
    return { family: 6, value: new Address6(text).bigInt() };
  }
  return undefined;
}

/** The canonical text (RFC 5952 for IPv6). */
export function formatAddress(address: Address): string {
  return address.family === 4
    ? Address4.fromBigInt(address.value).correctForm()
    : Address6.fromBigInt(address.value).correctForm();
}

/** Network byte order, 4 or 16 bytes. */
export function addressToBytes(address: Address): Uint8Array {
  const bytes = new Uint8Array(address.family === 4 ? 4 : 16);
  let rest = address.value;
  for (let i = bytes.length - 1; i >= 0; i--) {
    bytes[i] = Number(rest & 0xffn);
    rest >>= 8n;
  }
  return bytes;
}

/** @throws RangeError unless there are 4 or 16 bytes. */
export function addressFromBytes(bytes: Uint8Array): Address {
  if (bytes.length !== 4 && bytes.length !== 16) throw new RangeError(`an address of ${bytes.length} bytes`);
  const value = bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
  return { family: bytes.length === 4 ? 4 : 6, value };
}

/** Orders IPv4 before IPv6, then by number. */
export function compareAddresses(a: Address, b: Address): number {
  if (a.family !== b.family) return a.family - b.family;
  return a.value < b.value ? -1 : a.value > b.value ? 1 : 0;
}

/** The address `offset` after `base`. */
export function addressAt(base: Address, offset: bigint | number): Address {
  return { family: base.family, value: base.value + BigInt(offset) };
}

/** A string that is the same for equal addresses, for keys of maps. */
export function addressKey(address: Address): string {
  return `${address.family}/${address.value.toString(16)}`;
}
