import { isIPv4, isIPv6 } from 'node:net';
import { type Reader, ShapeError, string } from './shape.js';

/** An address with prefix length, `10.1.2.3/24`. Its text is kept as it is. */
export const cidr: Reader<string> = (value, path) => {
  const text = string(value, path);
  const [address = '', length = '', ...more] = text.split('/');
  const most = isIPv4(address) ? 32 : isPlainIPv6(address) ? 128 : -1;
  if (more.length > 0 || !/^(?:0|[1-9]\d{0,2})$/.test(length) || Number(length) > most) {
    throw new ShapeError(path, `must be an address with prefix length, is ${JSON.stringify(text)}`);
  }
  return text;
};

/** An address without prefix length. */
export const ip: Reader<string> = (value, path) => {
  const text = string(value, path);
  if (!isIPv4(text) && !isPlainIPv6(text)) {
    throw new ShapeError(path, `must be an IP address, is ${JSON.stringify(text)}`);
  }
  return text;
};

/** An address, with or without prefix length. */
export const ipOrCidr: Reader<string> = (value, path) => {
  return (string(value, path).includes('/') ? cidr : ip)(value, path);
};

/** A hardware address of 6, 8 or 20 bytes, written with `:` or `-`; the text is kept. */
export const hardwareAddress: Reader<string> = (value, path) => {
  const text = string(value, path);
  if (
    !/^[0-9a-f]{2}(?:([:-])[0-9a-f]{2})(?:\1[0-9a-f]{2}){4}(?:(?:\1[0-9a-f]{2}){2}|(?:\1[0-9a-f]{2}){14})?$/i.test(
      text,
    )
  ) {
    throw new ShapeError(path, `must be a hardware address, is ${JSON.stringify(text)}`);
  }
  return text;
};

/** An empty text counts as absent: Go's decoder reads it as "no address". */
export function orEmpty(read: Reader<string>): Reader<string | undefined> {
  return (value, path) => (value === '' ? undefined : read(value, path));
}

/** `isIPv6` takes zones (`fe80::1%eth0`); a result cannot carry one. */
function isPlainIPv6(text: string): boolean {
  return isIPv6(text) && !text.includes('%');
}
