import { listAddresses, type NetlinkConnection, readLink } from '@podwire/netlink';

/**
 * A text that is another one whenever the link was down or without its address in between (which costs it its IPv4 routes:
 * fib_disable_ip), or is reached otherwise. Undefined while it is not there, down, or looks for duplicates of an address.
 */
export function describeLinkState(connection: NetlinkConnection, name: string): string | undefined {
  const link = readLink(connection, name);
  if (link?.up !== true) return undefined;
  const { index, mtu, mac, carrierChanges } = link;
  const addresses = listAddresses(connection, { link: index });
  if (addresses.some(({ flags }) => flags.includes('tentative') && !flags.includes('dadFailed')))
    return undefined;
  // One that was taken away and added again is not the one it was.
  const made = addresses.map(({ address, created }) => [address, created]);
  return JSON.stringify([index, mtu, mac, carrierChanges, made]);
}
