import type { NodeView, PeerView, Problem, PublishedFacts } from '@podwire/network-contract';
import { podMtu } from '../mtu.js';
import { optionsOf } from '../options.js';
import { MODEL } from './multicast.js';

/** Facts that two nodes must agree on. */
export function publish({ network }: NodeView): PublishedFacts {
  const { mode, vxlanPort } = optionsOf(network);
  return { mode, 'vxlan-port': String(vxlanPort) };
}

/** Packets that are too large for tunnels, and peers that no tunnel leads to. */
export const diagnose = (node: NodeView, peers: readonly PeerView[]): Problem[] => [
  ...checkMtu(node),
  ...peers.flatMap((peer) => checkPeer(node, peer)),
];

function checkMtu(node: NodeView): Problem[] {
  const most = podMtu(node);
  if (node.mtu <= most) return [];
  const message = `pods of network ${node.network.name} send ${node.mtu} bytes, and tunnels of this node take at most ${most}`;
  return [{ code: 'MTU_MISMATCH', message }];
}

function checkPeer(node: NodeView, { name: peer, ipv4, blocks, facts }: PeerView): Problem[] {
  if (ipv4 === undefined && blocks.length > 0)
    return [{ peer, message: `${blocks.join(', ')} cannot be reached: the node has no IPv4 address` }];
  const [theirs, ours] = [facts?.[MODEL] ?? {}, publish(node)];
  return Object.keys(ours)
    .filter((name) => theirs[name] !== undefined && theirs[name] !== ours[name])
    .map((name) => ({
      peer,
      message: `its ${name} is ${theirs[name]}, and that of this node is ${ours[name]}`,
    }));
}
