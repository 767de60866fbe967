import type { HostTable } from '@podwire/network-contract';
import { planForwardAccept } from './forward-accept.js';
import { planNodeTraffic } from './node-traffic.js';

/**
 * The packet filter of the node: anti-spoofing, host ports, masquerading and no forwarding for others. It covers links whose name
 * begins with the prefix for pod links. What stays within the cluster is not masqueraded, whichever network or model it belongs to.
 */
export const packetFilter: HostTable = {
  plan(sides, elsewhere) {
    const links = sides.flatMap(({ model }) => model.forwardingLinks ?? []);
    const views = sides.map(({ view }) => view);
    return {
      beforeModels: planNodeTraffic(views, elsewhere, links),
      afterModels: planForwardAccept(links),
    };
  },
};
