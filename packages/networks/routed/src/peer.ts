import { type Family, formatPrefix, parsePrefix } from '@podwire/addresses';
import type { IpRoute } from '@podwire/backend-linux/resources';
import type { Resource } from '@podwire/engine';
import type { NodeView, PeerView } from '@podwire/network-contract';
import { tunnel, tunnelFamily, tunnelPeerElement } from '@podwire/network-traffic';
import { tunnelMac } from './tunnel.js';
import { type NodePair, pairOf, poolAround, shareTunnel, type Path, pathTo } from './path.js';

/**
 * Resources by which the node reaches the pods of another one: a route for each block and each borrowed address of it,
 * and for tunnels what stands for the peer's end. Blocks that cannot be reached have none; see {@link
 * unreachableBlocks}. An own address that is lent to the peer is one of its blocks: its route is longer than our
 * blackhole.
 */
export function planPeer(node: NodeView, peer: PeerView): Resource[] {
  if (node.underlay === undefined) return [];
  const pair = pairOf(node, peer);
  const paths = pathsOf(pair);
  const routes = paths.flatMap((path) => routeTo(node.underlay!.link, path));
  return [...tunnelTo(pair, paths), ...routes, ...acceptTunnelOf(pair)];
}

/** A block of a peer that this node has no path to, and why, in words. */
interface UnreachableBlock {
  readonly block: string;
  readonly why: string;
}

/** For status: blocks in pools of this network that {@link planPeer} plans no route for. Routers or BGP may know a path. */
export function unreachableBlocks(node: NodeView, peer: PeerView): UnreachableBlock[] {
  if (node.underlay === undefined) return [];
  return pathsOf(pairOf(node, peer)).flatMap(({ block, path }) =>
    path.kind === 'none' ? [{ block, why: path.why }] : [],
  );
}

interface BlockPath {
  readonly block: string;
  readonly family: Family;
  /** A single address, as pods have them. */
  readonly isSingle: boolean;
  readonly path: Path;
}

/** The peer's blocks in pools of this network; other networks' are planned with their own view of the node. */
function pathsOf(pair: NodePair): BlockPath[] {
  return pair.peer.blocks.flatMap((text) => {
    const prefix = parsePrefix(text);
    const pool = poolAround(pair.node.network.pools, prefix);
    if (pool === undefined) return [];
    const { family, length } = prefix;
    const isSingle = length === (family === 4 ? 32 : 128);
    return [{ block: formatPrefix(prefix), family, isSingle, path: pathTo(pair, pool, family) }];
  });
}

/**
 * Of routes to single addresses: behind what the pod itself would have here (0 and, for IPv6, 1024), before our blackholes and before
 * what a BGP daemon adds (32 and 3072). An address that comes back, or from there to here, has its pod before we are told that
 * no other node has it any more, and the kernel takes no second route of the same metric.
 */
const SINGLE_METRIC: Readonly<Record<Family, number>> = { 4: 16, 6: 2048 };

function routeTo(underlay: string, { block, family, isSingle, path }: BlockPath): IpRoute[] {
  const metric = isSingle ? { metric: SINGLE_METRIC[family] } : {};
  const route = { kind: 'route', in: 'host', destination: block, ...metric } as const;
  if (path.kind === 'none') return [];
  if (path.kind === 'direct') return [{ ...route, gateway: path.gateway, link: underlay }];
  return [{ ...route, gateway: path.gateway, link: tunnel.link, onlink: true }];
}

/** The next hops of tunnel routes, which answer no ARP and no neighbour discovery, and where their frames go. */
function tunnelTo({ peer, remote }: NodePair, paths: readonly BlockPath[]): Resource[] {
  const gateways = new Set(paths.flatMap(({ path }) => (path.kind === 'tunnel' ? [path.gateway] : [])));
  if (gateways.size === 0 || remote === undefined) return [];
  const on = { in: 'host', link: tunnel.link } as const;
  const mac = peer.tunnel?.mac ?? tunnelMac(peer.name);
  return [
    { kind: 'forwarding-entry', ...on, mac, remote },
    ...[...gateways].map((address): Resource => ({ kind: 'neighbour', ...on, address, mac })),
  ];
}

/** A peer without blocks sends through the tunnel too, as soon as it speaks to a pod of ours. */
function acceptTunnelOf(pair: NodePair): Resource[] {
  const { peer, remote } = pair;
  const family = tunnelFamily(peer);
  if (remote === undefined || family === undefined) return [];
  return shareTunnel(pair) ? [tunnelPeerElement(family, remote)] : [];
}
