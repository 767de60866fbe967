import type { Resource } from '@podwire/engine';
import type { NodeView, PeerView } from '@podwire/network-contract';
import { flowResources } from '../flow-resources.js';
import { planPeerFlows } from '../pipeline/peer.js';
import { tables } from '../pipeline/tables.js';
import { peersOf } from '../view.js';

/** Flows to and from another node: tables 10, 50 and 90. A node without subnet has no pods, and sends nothing. */
export function planPeer({ network }: NodeView, peer: PeerView): Resource[] {
  const flows = peersOf(peer, network).flatMap((one, index) =>
    // Several blocks of a node are behind one tunnel.
    planPeerFlows(one).filter(({ table }) => index === 0 || table !== tables.fromPeer),
  );
  return flowResources(flows);
}
