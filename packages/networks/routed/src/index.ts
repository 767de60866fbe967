import type { NetworkModel } from '@podwire/network-contract';
import { planEndpoint } from './endpoint.js';
import { planNode } from './node.js';

export { defaultRoutes, gateways, hostMac } from './gateways.js';
export { hostLinkName } from './names.js';

/** The routed model: a veth pair and kernel routes for each pod, no bridge and no subnet (the behaviour of Calico). */
export function createRoutedModel(): NetworkModel {
  return { name: 'routed', planNode, planPeer: () => [], planEndpoint };
}
