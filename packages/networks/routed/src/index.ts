import type { NetworkModel } from '@podwire/network-contract';
import { planEndpoint } from './endpoint.js';
import { planNode } from './node.js';
import { planPeer } from './peer.js';

export { defaultRoutes, gateways, hostMac } from './gateways.js';
export { checkMtu, type MtuProblem, podMtu, tunnelMtu } from './mtu.js';
export { hostLinkName } from './names.js';
export { unreachableBlocks, type UnreachableBlock } from './peer.js';
export { tunnelMac } from './tunnel.js';

/** The routed model: a veth pair and kernel routes for each pod, no bridge and no subnet (the behaviour of Calico). */
export function createRoutedModel(): NetworkModel {
  return { name: 'routed', planNode, planPeer, planEndpoint };
}
