import { hasCode } from '@podwire/linux';
import { decodeLink, getLink, type Link, listAddresses, type NetlinkConnection } from '@podwire/netlink';

/**
 * A text that is another one whenever the link was down in between (which costs it its IPv4 routes) or is reached otherwise.
 * Undefined while it is not there, down, or looks for duplicates of an address.
 */
export function describeLinkState(connection: NetlinkConnection, name: string): string | undefined {
  const link = findLink(connection, name);
  if (link?.up !== true) return undefined;
  const { index, mtu, mac, carrierChanges } = link;
  const addresses = listAddresses(connection, { link: index });
  if (addresses.some(({ flags }) => flags.includes('tentative') && !flags.includes('dadFailed')))
    return undefined;
  return JSON.stringify([index, mtu, mac, carrierChanges, addresses.map(({ address }) => address)]);
}

function findLink(connection: NetlinkConnection, name: string): Link | undefined {
  try {
    const [[message] = []] = connection.request([getLink(name)]);
    return message === undefined ? undefined : decodeLink(message);
  } catch (error) {
    if (hasCode(error, 'ENODEV')) return undefined;
    throw error;
  }
}
