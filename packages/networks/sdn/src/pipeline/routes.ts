/** Tables 30 to 120, as far as they depend on the node alone: where packets go. */
import type { Flow } from '@podwire/openflow';
import { gatewayOf } from '../addresses.js';
import { HOST_PORT, TUNNEL_PORT } from '../ports.js';
import type { SdnNode } from '../types.js';
import { planTranslation } from './connections.js';
import { arp, drop, flow, goTo, ip, MULTICAST, output, outputToPod } from './flows.js';
import { tables } from './tables.js';

const toHost = output(HOST_PORT);

/** Longer prefixes first: the gateway is in the subnet, and the subnet in a cluster network. */
function planRoutes({ subnet, clusterNetworks, serviceNetwork, datapath }: SdnNode): Flow[] {
  const gateway = gatewayOf(subnet);
  return [
    flow('route', 300, arp({ arp_tpa: gateway }), toHost),
    flow('route', 300, ip({ ip_dst: gateway }), toHost),
    ...planTranslation(datapath, subnet),
    flow('route', 200, arp({ arp_tpa: subnet }), goTo('arpToPod')),
    flow('route', 200, ip({ ip_dst: subnet }), goTo('toPod')),
    flow('route', 100, ip({ ip_dst: serviceNetwork }), goTo('toService')),
    ...clusterNetworks.flatMap((network) => [
      flow('route', 100, arp({ arp_tpa: network }), goTo('arpToPeer')),
      flow('route', 100, ip({ ip_dst: network }), goTo('toPeer')),
    ]),
    flow('route', 50, { in_port: TUNNEL_PORT, ...ip({ ip_dst: MULTICAST }) }, goTo('multicastToPods')),
    flow('route', 25, ip({ ip_dst: MULTICAST }), goTo('multicastFromPod')),
    flow('route', 0, ip(), goTo('nodeDns')),
    flow('route', 0, arp(), drop),
  ];
}

/**
 * Out of the cluster. Pods that ask this node for names can do so under any egress policy. Answers leave where the
 * question came in, whatever address the project has for what it begins itself.
 */
const planEgress = ({ address }: SdnNode): Flow[] => [
  flow('nodeDns', 200, ip({ ip_proto: 6, ip_dst: address, tcp_dst: 53 }), toHost),
  flow('nodeDns', 200, ip({ ip_proto: 17, ip_dst: address, udp_dst: 53 }), toHost),
  flow('nodeDns', 0, {}, goTo('egressPolicy')),
  flow('egressPolicy', 0, {}, goTo('egress')),
  flow('egress', 150, { ct_state: '+rpl' }, toHost),
  flow('egress', 0, {}, toHost),
];

/** The address of the node, as the flows for its DNS server have it; undefined when there is none. */
export function readNodeAddress(flows: readonly Flow[]): string | undefined {
  const found = flows.find(({ table, match }) => table === tables.nodeDns && match?.udp_dst === 53);
  const address = found?.match?.ip_dst;
  return typeof address === 'string' ? address : undefined;
}

/** Packets that no pod, peer or project has a flow for are dropped by a flow, so that they are counted. */
const planRest = (): Flow[] => [
  flow('arpToPod', 0, {}, drop),
  flow('arpToPeer', 0, {}, drop),
  flow('toPod', 0, {}, drop),
  flow('toPeer', 0, {}, drop),
  flow('multicastFromPod', 0, {}, drop),
  flow('multicastToPods', 0, {}, drop),
];

export const planDestinations = (node: SdnNode): Flow[] => [
  flow('commit', 0, {}, goTo('route')),
  ...planRoutes(node),
  flow('toService', 200, {}, toHost),
  // The node reaches its own pods, whatever their project: it probes them, and it is their gateway.
  flow('ingressRules', 300, ip({ ip_src: gatewayOf(node.subnet) }), outputToPod),
  ...planEgress(node),
  ...planRest(),
];
