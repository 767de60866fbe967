import type { NodeView, PeerView, Problem, UnderlayView } from '@podwire/network-contract';
import { travelsInVxlan, tunnelFamily, tunnelOverhead } from '@podwire/network-traffic';
import { pairOf, shareTunnel } from './path.js';

/** RFC 8200 §5: the kernel switches IPv6 off on links with less. */
const IPV6_MINIMUM = 1280;

const overhead = (underlay: UnderlayView): number => tunnelOverhead[tunnelFamily(underlay) ?? 4];

/** Bytes that a packet inside a tunnel may have, so that the packet around it fits the underlay. */
export const tunnelMtu = (underlay: UnderlayView): number => underlay.mtu - overhead(underlay);

/**
 * The MTU that pod links of this network must have, in bytes: what fits through every path that packets may take, so that a pod
 * need not know (and a packet with DF set is never lost) when it speaks to another one. `node.mtu` outside clusters.
 */
export function podMtu(node: Pick<NodeView, 'network' | 'underlay' | 'mtu'>): number {
  const { underlay, network } = node;
  if (underlay === undefined) return node.mtu;
  return network.pools.some(travelsInVxlan) ? tunnelMtu(underlay) : underlay.mtu;
}

/**
 * Checks that full-size packets of this node's pods (`node.mtu`) get to the pods of the peers: through its own underlay
 * and through theirs. Each node looks at its own direction. A peer whose MTU is not known is no problem.
 */
export function checkMtu(node: NodeView, peers: readonly PeerView[]): Problem[] {
  const { underlay } = node;
  if (underlay === undefined) return [];
  const own = [...tooLargeHere(node, underlay), ...tooSmallForIPv6(node)];
  return [...own, ...peers.flatMap((peer) => tooLargeThere(node, underlay, peer))];
}

function tooLargeHere(node: NodeView, underlay: UnderlayView): Problem[] {
  if (node.mtu <= podMtu(node)) return [];
  const limit = `${underlay.link} of ${underlay.mtu} bytes takes at most ${podMtu(node)}`;
  return [problem(`pods of network ${node.network.name} send ${node.mtu} bytes, ${limit}`)];
}

function tooSmallForIPv6(node: NodeView): Problem[] {
  const speaksIPv6 = node.ipv6 && node.network.pools.some(({ cidr }) => cidr.includes(':'));
  if (!speaksIPv6 || node.mtu >= IPV6_MINIMUM) return [];
  const message = `pods of network ${node.network.name} send ${node.mtu} bytes, IPv6 needs links of ${IPV6_MINIMUM}`;
  return [problem(message)];
}

function tooLargeThere(node: NodeView, underlay: UnderlayView, peer: PeerView): Problem[] {
  if (peer.mtu === undefined) return [];
  const size = node.mtu + (shareTunnel(pairOf(node, peer)) ? overhead(underlay) : 0);
  if (size <= peer.mtu) return [];
  const message = `packets of up to ${size} bytes go to node ${peer.name}, whose uplink takes ${peer.mtu}`;
  return [{ ...problem(message), peer: peer.name }];
}

const problem = (message: string): Problem => ({ code: 'MTU_MISMATCH', message });
