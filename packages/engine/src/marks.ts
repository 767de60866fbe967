/**
 * How Podwire recognises what is its own, also after a crash that lost every file: by marks that the kernel keeps.
 * Link groups (IFLA_GROUP) are free for any use; names would not do, since `cali…` may as well be Calico's.
 */

/** Group of links that belong to an endpoint ("PW" and one). */
export const LIVE_GROUP = 0x5057_0001;

/** Groups of links that were taken off the network and wait to be deleted, a group at a time ("PW" and "de…"). */
const FIRST_DOOMED_GROUP = 0x5057_de00;
const DOOMED_GROUPS = 256;

export const doomedGroup = (sequence: number): number => FIRST_DOOMED_GROUP + (sequence % DOOMED_GROUPS);

/** A doomed link keeps its name until somebody wants it, but does not count any more. */
export function isDoomed({ group }: { readonly group?: number | undefined }): boolean {
  return group !== undefined && group >= FIRST_DOOMED_GROUP && group < FIRST_DOOMED_GROUP + DOOMED_GROUPS;
}

/** Route protocol of every route that Podwire adds (rtnetlink(7), rtm_protocol: 128 and up are for administrators). */
export const ROUTE_PROTOCOL = 157;

/** A doomed link is renamed to this and its index, so that its old name is free at once. At most 15 characters. */
export const doomedName = (index: number): string => `pwx${index.toString(36)}`;

/** Names of Podwire's nftables tables begin with this. */
export const TABLE_PREFIX = 'podwire';
