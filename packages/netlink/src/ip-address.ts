import { addressFromBytes, addressToBytes, formatAddress, parseAddress } from '@podwire/addresses';
import { DecodeError } from './errors.js';

/** The version of IP. (The library's own type, so that its declarations need no other package.) */
/** As in @podwire/addresses; the declarations of this package are published alone and refer to no other. */
export type Family = 4 | 6;

export const AF_UNSPEC = 0;
export const AF_INET = 2;
export const AF_BRIDGE = 7;
export const AF_INET6 = 10;

/** The AF_* number of an IP family. */
export const familyNumber = (family: Family): number => (family === 4 ? AF_INET : AF_INET6);

/** The IP family of an AF_* number; `undefined` for every other protocol. */
export function familyOf(number: number): Family | undefined {
  return number === AF_INET ? 4 : number === AF_INET6 ? 6 : undefined;
}

/** @throws DecodeError unless there are 4 or 16 bytes. */
export function decodeIp(bytes: Uint8Array): string {
  if (bytes.length !== 4 && bytes.length !== 16) throw new DecodeError(`an address of ${bytes.length} bytes`);
  return formatAddress(addressFromBytes(bytes));
}

/** Bytes in network order. @throws RangeError naming the text. */
export function encodeIp(text: string): Uint8Array {
  return addressToBytes(parseAddress(text));
}
