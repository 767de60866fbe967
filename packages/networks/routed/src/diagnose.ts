import type { NodeView, PeerView, Problem } from '@podwire/network-contract';
import { checkMtu } from './mtu.js';
import { unreachableBlocks } from './peer.js';

/** Blocks of peers that no path leads to, and packets that are too large for their path. */
export function diagnose(node: NodeView, peers: readonly PeerView[]): Problem[] {
  return [...peers.flatMap((peer) => unreachable(node, peer)), ...checkMtu(node, peers)];
}

const unreachable = (node: NodeView, peer: PeerView): Problem[] =>
  unreachableBlocks(node, peer).map(({ block, why }) => ({
    peer: peer.name,
    message: `${block} is unreachable: ${why}`,
  }));
