import type { NetlinkConnection, NetlinkMessage, NetlinkRequest } from './connection.js';
import { NetlinkError } from './errors.js';

/**
 * A dump whose filter may name something that is not there, which the kernel answers with one of `codes`: a list of
 * what belongs to nothing is empty.
 */
export function dumpUnless(
  connection: NetlinkConnection,
  request: NetlinkRequest,
  ...codes: string[]
): NetlinkMessage[] {
  try {
    return connection.dump(request);
  } catch (error) {
    if (error instanceof NetlinkError && codes.includes(error.code)) return [];
    throw error;
  }
}
