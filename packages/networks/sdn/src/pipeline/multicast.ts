/**
 * Tables 110 to 120. A project has multicast if it asks for it, and only within itself; the mode `subnet` has none.
 */
import { compareAddresses, parseAddress } from '@podwire/addresses';
import type { Flow } from '@podwire/openflow';
import { checkPeer, checkProject } from '../check.js';
import type { SdnPeer } from '../types.js';
import { doThen, flow, goTo, keepVnid, sendTo } from './flows.js';

/**
 * Plans the flow by which multicast of this node's pods is copied to all other nodes. There is always one, also
 * without peers: pods of this node are behind it.
 */
export function planMulticastToPeers(peers: readonly SdnPeer[]): Flow {
  for (const peer of peers) checkPeer(peer);
  const addresses = [...new Set(peers.map(({ address }) => address))];
  const sorted = addresses.sort((a, b) => compareAddresses(parseAddress(a), parseAddress(b)));
  const copies = sorted.flatMap(sendTo);
  const actions = copies.length === 0 ? [] : [keepVnid, ...copies];
  return flow('multicastToPeers', 100, {}, doThen(actions, 'multicastToPods'));
}

/**
 * Plans the flows of a project with multicast. `ports` are those of its pods on this node; the switch sends nothing
 * back to the one that a packet came from.
 * @throws PodwireError OBJECT_INVALID for a number that is no VNID
 */
export function planMulticastFlows(vnid: number, ports: readonly number[]): Flow[] {
  checkProject(vnid);
  const sorted = [...ports].sort((a, b) => a - b);
  const copies = sorted.map((port) => ({ type: 'output', port }) as const);
  return [
    flow('multicastFromPod', 100, { reg0: vnid }, goTo('multicastToPeers')),
    ...(copies.length === 0 ? [] : [flow('multicastToPods', 100, { reg0: vnid }, { actions: copies })]),
  ];
}
