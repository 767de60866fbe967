/** Parts of rows that several plans have. */
import { digestMac } from '../digest-mac.js';
import { routerSideName } from './names.js';

/** By which tools of Kube-OVN know its rows. */
export const vendor = { vendor: 'kube-ovn' } as const;

/** `ip4` or `ip6`, of an address or a prefix, in OVN's language of matches. */
export const protocolOf = (text: string): 'ip4' | 'ip6' => (text.includes(':') ? 'ip6' : 'ip4');

export const isSameFamily = (one: string, other: string): boolean => protocolOf(one) === protocolOf(other);

/** All addresses of the family. */
export const anywhere = (like: string): string => (protocolOf(like) === 'ip4' ? '0.0.0.0/0' : '::/0');

/**
 * The MAC of a router's port. Kube-OVN draws one and looks it up in the database later. One that follows from the name is the same in a
 * database that is new, so that what pods remember of their gateway stays right.
 */
export const routerMac = (port: string): string => digestMac('02', port);

/** The receiver of what pods of a subnet send out of it, where its gateway is a router of OVN. */
export const gatewayMac = (subnet: string, vpc: string): string => routerMac(routerSideName(subnet, vpc));
