import type { Resource } from '@podwire/engine';
import type { NodeView } from '@podwire/network-contract';
import { gateways } from './gateways.js';

/**
 * What a node without any IPv4 address speaks to its pods from: probes, and what comes through a host port from the node itself.
 * Without a source the kernel sends nothing that could be answered. It is the address that pods have as their gateway, so they
 * know the way back. On the loopback it would be preferred to an address that the node gets later: it goes as soon as there is one.
 * IPv6 needs no such thing, since the node speaks from the link-local address of the pod's link.
 */
export function planOwnAddress({ ipv4, lacksIPv4 }: NodeView): Resource[] {
  if (!ipv4 || lacksIPv4 !== true) return [];
  return [{ kind: 'address', in: 'host', link: 'lo', address: `${gateways[4]}/32`, marked: true }];
}
