import { addressAt, addressToBytes, formatAddress, parseAddress, parsePrefix } from '@podwire/addresses';

/** The node's own address in its subnet: the first one. */
export const gatewayOf = (subnet: string): string => formatAddress(addressAt(parsePrefix(subnet).address, 1));

/** An IPv4 address as bytes of a MAC address: `0a:80:00:02`. */
export const hexOf = (ip: string): string =>
  Buffer.from(addressToBytes(parseAddress(ip)))
    .toString('hex')
    .replace(/..(?!$)/g, '$&:');

/** The MAC address that a pod must have: the bridge lets no other one speak ARP. */
export const podMac = (ip: string): string => `0a:58:${hexOf(ip)}`;
