/** Segments, their router, and the nodes' links, as commands of iproute2. Pure. */
import {
  type FamilyAddresses,
  type PlannedNode,
  segmentMtu,
  type Segment,
  type Topology,
  withoutLength,
} from '../shape.js';

/**
 * Commands for the namespace of the segments. `namespaceOf`: where the node's namespace is pinned. A packet to a pool
 * address that arrives here was misrouted: a `local` route delivers it, so that a probe sees the leak.
 */
export function planFabric(
  { segments, nodes, outside }: Topology,
  pools: readonly string[],
  namespaceOf: (node: string) => string,
): string[] {
  return [
    ...addressLines(outside, 'lo'),
    ...pools.map((cidr) => `route add local ${cidr} dev lo`),
    ...segments.flatMap(planSegment),
    ...nodes.flatMap(({ port, segment, name }) => [
      `link add ${port} mtu ${segmentMtu} type veth peer name eth0 mtu ${segmentMtu} netns ${namespaceOf(name)}`,
      `link set ${port} addrgenmode none master ${segment.bridge} up`,
    ]),
  ];
}

const planSegment = ({ bridge, gateway }: Segment): string[] => [
  `link add ${bridge} mtu ${segmentMtu} type bridge forward_delay 0 mcast_snooping 0`,
  ...upWithLinkLocal(bridge, gateway),
  ...addressLines(gateway, bridge),
];

/** Its end of the cable, up and without an address. */
export const planCable = (): string[] => upWithLinkLocal('eth0', {});

/** In the node's own namespace. @param link that has the node's addresses: `eth0`, or a bridge that it is a port of */
export function planUplink({ addresses, segment: { gateway } }: PlannedNode, link = 'eth0'): string[] {
  return [
    ...upWithLinkLocal(link, addresses),
    ...addressLines(addresses, link),
    ...Object.values(gateway).map((address: string) => `route replace default via ${withoutLength(address)}`),
  ];
}

/** Set explicitly: the kernel adds its own link-local address later, and DAD makes it unusable for a second. */
function upWithLinkLocal(link: string, { ipv6 }: FamilyAddresses): string[] {
  return [
    `link set ${link} addrgenmode none`,
    `link set ${link} up`,
    ...(ipv6 === undefined ? [] : [`addr replace fe80::${hostPart(ipv6)}/64 dev ${link} scope link nodad`]),
  ];
}

/** `11` of `fd00:10:1::11/64`. */
const hostPart = (ipv6: string): string => withoutLength(ipv6).split('::')[1] ?? '';

const addressLines = (addresses: object, link: string): string[] =>
  Object.values(addresses).map(
    (address: string) => `addr replace ${address} dev ${link}${address.includes(':') ? ' nodad' : ''}`,
  );
