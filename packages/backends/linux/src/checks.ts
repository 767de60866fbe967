/**
 * Checks of the fields of a resource that is read from a file: an endpoint record. A resource that passes can be
 * encoded for the kernel.
 */
import { parseInterfaceAddress, tryParseAddress } from '@podwire/addresses';
import { numberUpTo, oneOf, optional, textLike } from '@podwire/engine/checks';

export * from '@podwire/engine/checks';

export const link = textLike((value) => /^[^/\s]{1,15}$/.test(value), 'no name of a link');
export const mac = textLike((value) => /^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/.test(value), 'no MAC address');
export const address = textLike(isAddress, 'no address');
export const prefix = textLike(isPrefix, 'no ADDRESS/LENGTH');
export const port = numberUpTo(65_535);
export const side = oneOf('host', 'pod');
export const scope = optional(oneOf('global', 'link', 'host'));
export const protocol = oneOf('tcp', 'udp', 'sctp');

/** Not those with a zone (`fe80::1%eth0`). */
function isAddress(value: string): boolean {
  return tryParseAddress(value) !== undefined;
}

function isPrefix(value: string): boolean {
  try {
    parseInterfaceAddress(value);
    return true;
  } catch {
    return false;
  }
}
