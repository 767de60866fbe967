/** Keys of resources that others need first. Pure, for kinds and for models. */
import type { TableReference } from '@podwire/nftables';
import type { Place } from './places.js';

/** Of a link; those on it die with it. */
export const linkKey = (place: Place, name: string): string => `link ${place}/${name}`;

/** Of an entry in a table of the kernel. */
export const entryKey = (kind: string, place: Place, id: string): string => `${kind} ${place}/${id}`;

/** Of an address on a link, as ADDRESS/LENGTH. */
export const addressKey = (place: Place, link: string, address: string): string =>
  entryKey('address', place, `${link} ${address}`);

/** Hints name it for every address of a link. */
export const addressesKey = (link: string): string => `addresses of ${link}`;

/** Hints name it for events in the namespace behind this link of the node. */
export const behindKey = (link: string): string => `namespace behind ${link}`;

export const sysctlKey = ({ in: place, key }: { readonly in: Place; readonly key: string }): string =>
  `sysctl ${place}/${key}`;

export const tableKey = ({ family, name }: TableReference): string => `nft-table ${family} ${name}`;

/** A link takes the defaults that stand when it is made. */
export const keysBeforeLinks: readonly string[] = [
  'net/ipv4/ip_forward',
  'net/ipv4/conf/default/forwarding',
  'net/ipv6/conf/all/forwarding',
].map((key) => sysctlKey({ in: 'host', key }));

/**
 * Everything on a link needs the link, and the parameters that say how the link treats IPv6: with `disable_ipv6` it takes
 * no address, a link that comes up listens to routers unless `accept_ra` forbids it, and its own address rests for a second
 * unless `accept_dad` is off.
 */
export function keysBeforeEntries(place: Place, link: string): readonly string[] {
  // Lists name the same link again and again: 5,000 peers have one.
  if (last?.place === place && last.link === link) return last.keys;
  const parameters = [
    ...['disable_ipv6', 'accept_ra', 'accept_dad'].map((name) => `${link}/${name}`),
    'all/disable_ipv6',
  ];
  const keys = [
    linkKey(place, link),
    ...parameters.map((name) => sysctlKey({ in: place, key: `net/ipv6/conf/${name}` })),
  ];
  last = { place, link, keys };
  return keys;
}

let last: { readonly place: Place; readonly link: string; readonly keys: readonly string[] } | undefined;
