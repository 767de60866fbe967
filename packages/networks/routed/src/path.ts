import {
  containsPrefix,
  type Family,
  familyOf,
  formatAddress,
  parseAddress,
  parsePrefix,
  type Prefix,
} from '@podwire/addresses';
import type { NodeView, PeerView, PoolView } from '@podwire/network-contract';
import { addressIn, tunnelEnd, tunnelFamily } from '@podwire/network-traffic';
import { compact } from '@podwire/platform';
import { sharesSegment } from './segment.js';

/** How packets for a block get to the peer that has it; `none` with the reason in words. */
export type Path =
  | { readonly kind: 'direct'; readonly gateway: string }
  | { readonly kind: 'tunnel'; readonly gateway: string }
  | { readonly kind: 'none'; readonly why: string };

/** The two nodes of a path, and what does not depend on the block: computed once for each peer. */
export interface NodePair {
  readonly node: NodeView;
  readonly peer: PeerView;
  /** Where tunnels to the peer end; absent when there can be none. */
  readonly remote?: string;
  readonly direct: Readonly<Record<Family, boolean>>;
}

export function pairOf(node: NodeView, peer: PeerView): NodePair {
  const underlay = node.underlay ?? {};
  const sameFamily = tunnelFamily(underlay) === tunnelFamily(peer);
  const remote = sameFamily ? tunnelEnd(peer) : undefined;
  const direct = { 4: sharesSegment(underlay, peer, 4), 6: sharesSegment(underlay, peer, 6) };
  return { node, peer, direct, ...compact({ remote }) };
}

/** Reports if packets between the two take the tunnel, by the pool they are of. */
function takesTunnel({ direct }: NodePair, { encapsulation }: PoolView, family: Family): boolean {
  return encapsulation === 'vxlan' || (encapsulation === 'vxlan-cross-subnet' && !direct[family]);
}

/** Reports if any packets between the two take the tunnel. */
export const shareTunnel = (pair: NodePair): boolean =>
  pair.node.network.pools.some((pool) => takesTunnel(pair, pool, familyOf(pool.cidr)));

/** The path to a block that lies in this pool. */
export function pathTo(pair: NodePair, pool: PoolView, family: Family): Path {
  const { node, direct } = pair;
  if (!(family === 4 ? node.ipv4 : node.ipv6)) return none(`this node does not speak IPv${family}`);
  if (takesTunnel(pair, pool, family)) return throughTunnel(pair, family);
  return direct[family] ? directly(pair, family) : notDirectly(pair, family);
}

const none = (why: string): Path => ({ kind: 'none', why });

function directly({ peer }: NodePair, family: Family): Path {
  return { kind: 'direct', gateway: addressIn((family === 4 ? peer.ipv4 : peer.ipv6)!) };
}

function notDirectly({ node, peer }: NodePair, family: Family): Path {
  const key = family === 4 ? 'ipv4' : 'ipv6';
  if (node.underlay?.[key] === undefined) return none(`this node has no IPv${family} address`);
  if (peer[key] === undefined) return none(`node ${peer.name} has no IPv${family} address`);
  return none(`node ${peer.name} is on another segment: routers must know the way, or the pool be vxlan`);
}

function throughTunnel({ node, peer, remote }: NodePair, family: Family): Path {
  if (remote === undefined) {
    const [here, there] = [tunnelFamily(node.underlay ?? {}), tunnelFamily(peer)];
    return none(`tunnels begin at IPv${here ?? '?'} here and end at IPv${there ?? '?'} at node ${peer.name}`);
  }
  const gateway = family === 4 ? peer.tunnel?.ipv4 : peer.tunnel?.ipv6;
  if (gateway === undefined) return none(`node ${peer.name} has no IPv${family} address of its tunnel yet`);
  return { kind: 'tunnel', gateway: formatAddress(parseAddress(gateway)) };
}

interface ParsedPool {
  readonly pool: PoolView;
  readonly prefix: Prefix;
}

/** A node has a handful of pools and thousands of peers: the same list is read once. */
const parsedPools = new WeakMap<readonly PoolView[], readonly ParsedPool[]>();

/** The innermost pool that holds a block. */
export function poolAround(pools: readonly PoolView[], block: Prefix): PoolView | undefined {
  const parsed = parsedPools.get(pools) ?? parsePools(pools);
  return parsed.find(({ prefix }) => containsPrefix(prefix, block))?.pool;
}

function parsePools(pools: readonly PoolView[]): readonly ParsedPool[] {
  const parsed = pools
    .map((pool) => ({ pool, prefix: parsePrefix(pool.cidr) }))
    .toSorted((a, b) => b.prefix.length - a.prefix.length);
  parsedPools.set(pools, parsed);
  return parsed;
}
