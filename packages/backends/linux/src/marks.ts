/**
 * How Podwire recognises what is its own, also after a crash that lost every file: by marks that the kernel keeps.
 * Link groups (IFLA_GROUP) are free for any use; names would not do, since `cali…` may as well be Calico's.
 */

/** Group of links that belong to an endpoint ("PW" and one). */
export const LIVE_GROUP = 0x5057_0001;

/** Groups of links that are out of service and wait to be deleted, a group at a time ("PW" and "de…"). */
const FIRST_DELETION_GROUP = 0x5057_de00;
export const DELETION_GROUPS = 256;

export const deletionGroup = (batch: number): number => FIRST_DELETION_GROUP + batch;
export const batchOfGroup = (group: number): number => group - FIRST_DELETION_GROUP;

/** A link that waits for deletion keeps its name until another link needs it, but does not count any more. */
export function isMarkedForDeletion({ group }: { readonly group?: number | undefined }): boolean {
  return (
    group !== undefined && group >= FIRST_DELETION_GROUP && group < FIRST_DELETION_GROUP + DELETION_GROUPS
  );
}

/** Route protocol of every route that Podwire adds (rtnetlink(7), rtm_protocol: 128 and up are for administrators). */
export const ROUTE_PROTOCOL = 157;

/** Label of an IPv4 address that Podwire put on a link of others (IFA_LABEL; the name of the link comes first, for ifconfig). */
export const ADDRESS_LABEL = 'lo:podwire';

/** The name that a link takes on the way out, so that its old one is free at once. At most 15 characters. */
export const deletedName = (index: number): string => `pwx${index.toString(36)}`;

export const isDeletedName = (name: string): boolean => name.startsWith('pwx');

/** Names of Podwire's nftables tables begin with this. */
export const TABLE_PREFIX = 'podwire';

const UPLINK_ALIAS = 'podwire uplink ';

/**
 * Alias of a bridge that has the addresses of an uplink, so that they go back before a bridge without owner goes, also
 * where no file says so.
 */
export const uplinkAlias = (uplink: string): string => `${UPLINK_ALIAS}${uplink}`;

/** The uplink that a bridge has the addresses of. */
export const uplinkOfAlias = (alias = ''): string | undefined =>
  alias.startsWith(UPLINK_ALIAS) ? alias.slice(UPLINK_ALIAS.length) : undefined;
