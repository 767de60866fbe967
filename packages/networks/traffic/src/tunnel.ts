import { type Family, formatAddress, parseInterfaceAddress } from '@podwire/addresses';
import type { NftElement } from '@podwire/backend-linux/resources';
import type { NodeView, PeerView, PoolView } from '@podwire/network-contract';
import { trafficTable } from './traffic-table.js';

/**
 * The one VXLAN device of a node, for all its networks; see docs/decisions/0022-one-vxlan-device.md. Identifier and port are
 * Calico's (4096, IANA's 4789), so that rules of firewalls between the nodes need no change.
 */
export const tunnel = { link: 'podwire-vx', id: 4096, port: 4789 } as const;

/** Bytes that a tunnel adds to a packet: outer IP header, UDP 8, VXLAN 8, inner Ethernet 14 (RFC 7348 §5). */
export const tunnelOverhead: Readonly<Record<Family, number>> = { 4: 50, 6: 70 };

/** Reports if packets of such a pool ever travel in tunnels. */
export const travelsInVxlan = ({ encapsulation }: Pick<PoolView, 'encapsulation'>): boolean =>
  encapsulation === 'vxlan' || encapsulation === 'vxlan-cross-subnet';

/** Reports if a node needs its tunnel device for this network. */
export function needsTunnel({ network, underlay }: Pick<NodeView, 'network' | 'underlay'>): boolean {
  return underlay !== undefined && network.pools.some(travelsInVxlan);
}

type Addresses = Pick<PeerView, 'ipv4' | 'ipv6'>;

/**
 * The family of the packets that carry tunnels: IPv4 where the node has it. A VXLAN device speaks one family only, so nodes
 * with IPv4 and nodes without cannot tunnel to each other.
 */
export function tunnelFamily({ ipv4, ipv6 }: Addresses): Family | undefined {
  if (ipv4 !== undefined) return 4;
  return ipv6 === undefined ? undefined : 6;
}

/** The address, without a length, that tunnels to or from a node end at. */
export function tunnelEnd(node: Addresses): string | undefined {
  const family = tunnelFamily(node);
  const text = family === 4 ? node.ipv4 : node.ipv6;
  return text === undefined ? undefined : addressIn(text);
}

/** Canonical text, since the engine compares it with the kernel's. */
export function addressIn(text: string): string {
  const { address } = parseInterfaceAddress(text);
  return formatAddress(address);
}

/** The set of those whose tunnel packets are taken. */
export const tunnelPeersSet = (family: Family): string => `tunnelpeers${family}`;

/** Makes the peer known, so that its tunnel packets are taken. */
export function tunnelPeerElement(family: Family, address: string): NftElement {
  return {
    kind: 'nft-element',
    family: trafficTable.family,
    table: trafficTable.name,
    set: tunnelPeersSet(family),
    key: [{ type: family === 4 ? 'ipv4_addr' : 'ipv6_addr', value: address }],
  };
}
