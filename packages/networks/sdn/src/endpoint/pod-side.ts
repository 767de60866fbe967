import type { IpRoute } from '@podwire/backend-linux/resources';
import type { Resource } from '@podwire/engine';
import type { FoundLink } from '@podwire/network-contract';
import { forwardingOff, planChecksums } from '@podwire/network-traffic/switched-pod';
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
    ...planChecksums(link, node.datapath),
    { kind: 'link-up', in: 'pod', link },
    { kind: 'address', in: 'pod', link, address },
    ...routesOf(node, gateway, isPrimary).map(({ dst: destination, gw }): IpRoute => {
      const way = gw === undefined ? { scope: 'link' as const } : { gateway: gw };
      return { kind: 'route', in: 'pod', link, destination, ...way };
    }),
    ...(isPrimary ? planFoundLinks(found, link, gateway) : []),
  ];
}

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
