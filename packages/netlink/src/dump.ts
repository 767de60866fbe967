import type { NetlinkConnection, NetlinkMessage, NetlinkRequest } from './connection.js';
import { NetlinkError } from './errors.js';

/** How much of a list is read. */
export interface DumpLimit {
  /** Messages of one family; of a longer list these come first in the kernel's order, and the rest stays unread. */
  readonly limit?: number;
}

/**
 * A dump whose filter may name something that is not there, which the kernel answers with one of `codes`: a list of
 * what belongs to nothing is empty.
 */
export function dumpUnless(
  connection: NetlinkConnection,
  request: NetlinkRequest,
  codes: readonly string[],
  limit?: number,
): NetlinkMessage[] {
  try {
    return connection.dump(request, limit);
  } catch (error) {
    if (error instanceof NetlinkError && codes.includes(error.code)) return [];
    throw error;
  }
}
