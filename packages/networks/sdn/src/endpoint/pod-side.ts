import type { IpRoute, LinkFeature } from '@podwire/backend-linux/resources';
import type { Resource } from '@podwire/engine';
import type { FoundLink } from '@podwire/network-contract';
import { MULTICAST } from '../pipeline/flows.js';
import type { SdnNode } from '../types.js';
import type { PodPlace } from './place.js';

const DEFAULT_ROUTE = '0.0.0.0/0';
/** The interface that carries a pod's default route; others are further interfaces. */
const PRIMARY = 'eth0';

/** Resources of the pod's namespace. `lo` is down in a fresh one. */
export function planPodSide(
  link: string,
  { address, gateway }: PodPlace,
  node: SdnNode,
  found: readonly FoundLink[] = [],
): Resource[] {
  const isPrimary = link === PRIMARY;
  return [
    ...(isPrimary ? [forwardingOff] : []),
    { kind: 'link-up', in: 'pod', link: 'lo' },
    ...planChecksums(link, node),
    { kind: 'link-up', in: 'pod', link },
    { kind: 'address', in: 'pod', link, address },
    ...routesOf(node, gateway, isPrimary).map(({ dst: destination, gw }): IpRoute => {
      const way = gw === undefined ? { scope: 'link' as const } : { gateway: gw };
      return { kind: 'route', in: 'pod', link, destination, ...way };
    }),
    ...(isPrimary ? planFoundLinks(found, link, gateway) : []),
  ];
}

/**
 * On the datapath `netdev` the switch reads packets from the link as they are, and a pod that is to get one drops it where the
 * checksum is not complete: ping works and TCP does not. The kernel's datapath completes it where a packet leaves the node.
 */
const planChecksums = (link: string, { datapath }: SdnNode): LinkFeature[] =>
  datapath === 'netdev'
    ? [{ kind: 'link-feature', in: 'pod', link, feature: 'tx-checksumming', on: false }]
    : [];

/** A new namespace copies the IPv4 settings of the machine's first one, which forwards; what the pod makes of it later stays. */
const forwardingOff: Resource = {
  ...{ kind: 'sysctl', in: 'pod', key: 'net/ipv4/ip_forward', value: '0', initial: true },
};

/** A macvlan reaches everything but the link below it: the node's addresses there are behind the bridge. */
function planFoundLinks(found: readonly FoundLink[], link: string, gateway: string): Resource[] {
  return found.flatMap(({ name, parentAddresses }): Resource[] => [
    { kind: 'link-up', in: 'pod', link: name },
    ...parentAddresses.map((address): IpRoute => {
      return { kind: 'route', in: 'pod', link, destination: `${address}/32`, gateway };
    }),
  ]);
}

interface PodRoute {
  readonly dst: string;
  readonly gw?: string;
}

/** Routes of a pod as OpenShift's IPAM gives them; the gateway is behind the bridge, as other pods are. */
function routesOf({ clusterNetworks, serviceNetwork }: SdnNode, gw: string, isPrimary: boolean): PodRoute[] {
  return [
    ...clusterNetworks.map((dst) => ({ dst })),
    { dst: MULTICAST },
    { dst: serviceNetwork, gw },
    ...(isPrimary ? [{ dst: DEFAULT_ROUTE, gw }] : []),
  ];
}

/** Of the CNI result. */
export const reportedRoutes = (link: string, { gateway }: PodPlace, node: SdnNode): PodRoute[] =>
  routesOf(node, gateway, link === PRIMARY);
