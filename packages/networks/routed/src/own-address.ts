import type { Resource } from '@podwire/engine';
import type { NodeView } from '@podwire/network-contract';
import { gateways } from './gateways.js';

/**
 * Source address of a node without any IPv4 address for packets to its pods: probes, and connections through its own
 * host ports. Without a source the kernel sends nothing that could be answered. It is the address that pods have as
 * their gateway, so they know the way back. On the loopback it would be preferred to an address that the node gets
 * later: it goes as soon as there is one. IPv6 needs no such thing, since the node speaks from the link-local address
 * of the pod's link.
 */
export function planOwnAddress({ ipv4, lacksIPv4 }: NodeView): Resource[] {
  if (!ipv4 || lacksIPv4 !== true) return [];
  return [{ kind: 'address', in: 'host', link: 'lo', address: `${gateways[4]}/32`, marked: true }];
}
