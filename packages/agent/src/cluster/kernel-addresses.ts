import { type InterfaceAddressEntry, listAddresses, type NetlinkConnection } from '@podwire/netlink';
import type { LinkAddress } from './underlay.js';

/** Addresses that will not be there for long, or cannot be used. */
const passing: ReadonlySet<InterfaceAddressEntry['flags'][number]> = new Set([
  'deprecated',
  'tentative',
  'dadFailed',
]);

/** The addresses of the network namespace that the connection is bound to. */
export function readKernelAddresses(connection: NetlinkConnection): LinkAddress[] {
  return listAddresses(connection).map(({ link, address, scope, flags, family }) => ({
    link,
    address,
    global: scope === 'global',
    // IFA_F_SECONDARY is IFA_F_TEMPORARY for IPv6 (RFC 8981).
    passing: flags.some((flag) => passing.has(flag) || (flag === 'secondary' && family === 6)),
  }));
}
