import type { Resource } from '@podwire/engine';
import type { Endpoint, NodeView, PlannedEndpoint } from '@podwire/network-contract';
import { planBandwidth, planHostPorts } from '@podwire/network-traffic';
import { defaultRoutes, gateways, hostMac } from './gateways.js';
import { planHostSide } from './host-side.js';
import { hostLinkName, primaryInterface } from './names.js';
import { familiesOf, type PodAddress, podAddresses } from './pod-addresses.js';
import { planPodSide } from './pod-side.js';

/**
 * Everything one pod needs: a veth pair, its addresses as /32 and /128, default routes through a gateway that exists only
 * on this link, a route of the node to each address, and what was asked for in ports and rates.
 * @throws PodwireError REQUEST_INVALID naming the field, for port mappings and rates that cannot be
 */
export function planEndpoint(endpoint: Endpoint, node: NodeView): PlannedEndpoint {
  const addresses = podAddresses(endpoint);
  const hostLink = { name: hostLinkName(endpoint), mac: hostMac };
  const podLink = { name: endpoint.id.ifName, mac: endpoint.mac };
  const resources: Resource[] = [
    { kind: 'veth', host: hostLink, pod: podLink, mtu: node.mtu },
    ...planPodSide(podLink.name, addresses),
    ...planHostSide(hostLink.name, addresses, node),
    ...planBandwidth(endpoint, hostLink.name, node.mtu),
    // When both ends are up.
    { kind: 'link-ready', in: 'pod', link: podLink.name },
    // The outside world gets its ports last.
    ...planHostPorts(endpoint, hostLink.name),
  ];
  return {
    resources,
    links: [
      { side: 'host', ...hostLink },
      { side: 'pod', ...podLink },
    ],
    mtu: node.mtu,
    routes: reportedRoutes(podLink.name, addresses),
    gateways: addresses.map(() => undefined),
  };
}

/**
 * "Routes created by this attachment" (CNI specification 1.1.0, "ADD Success"), for plugins behind us that want to know where
 * the default route goes. Calico's plugin reports none.
 */
function reportedRoutes(link: string, addresses: readonly PodAddress[]): PlannedEndpoint['routes'] {
  if (link !== primaryInterface) return [];
  return familiesOf(addresses).map((family) => ({ dst: defaultRoutes[family], gw: gateways[family] }));
}
