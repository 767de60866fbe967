import { encapsulations, type NetworkModel } from '@podwire/network-contract';
import { packetFilter, travelsInVxlan } from '@podwire/network-traffic';
import { diagnose } from './diagnose.js';
import { planEndpoint } from './endpoint.js';
import { podMtu } from './mtu.js';
import { planNode } from './node.js';
import { planPeer } from './peer.js';
import { tunnelMac } from './tunnel.js';

export { defaultRoutes, gateways, hostMac } from './gateways.js';
export { hostLinkName } from './names.js';

/** The routed model: a veth pair and kernel routes for each pod, no bridge and no subnet (the behaviour of Calico). */
export function createRoutedModel(): NetworkModel {
  return {
    name: 'routed',
    description: 'a veth pair and a host route for each address, as Calico does it.',
    encapsulations,
    hostTables: [packetFilter],
    planNode,
    planPeer,
    planEndpoint,
    podMtu,
    diagnose,
    needsTunnelAddress: travelsInVxlan,
    nodeIdentity: (nodeName) => ({ tunnelMac: tunnelMac(nodeName) }),
  };
}
