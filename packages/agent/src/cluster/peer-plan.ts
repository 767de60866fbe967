/** From the cache of the cluster to what the kernel must have for a peer. Pure. */
import { addressBits, familyOf } from '@podwire/addresses';
import type { ClusterCache } from '@podwire/cluster-state';
import type { Resource } from '@podwire/engine';
import type { NetworkSide, PeerView } from '@podwire/network-contract';
import { compact } from '@podwire/platform';
import { withoutDoubles } from '../node/node-plan.js';

/** The peer as the store has it; undefined when it is not registered (any more). */
export function viewPeer(
  cache: Pick<ClusterCache, 'nodes' | 'blocksOf' | 'borrowedBy'>,
  name: string,
): PeerView | undefined {
  const node = cache.nodes.get(name)?.value;
  if (node === undefined) return undefined;
  const { addresses, tunnel, mtu, facts } = node;
  return {
    name,
    ...compact({ ipv4: addresses.ipv4, ipv6: addresses.ipv6 }),
    ...compact({ tunnel: tunnel && viewTunnel(tunnel) }),
    mtu,
    ...compact({ facts }),
    // Also those that are pending: who has created the object has the block, and its pods must not wait for a formality.
    blocks: [...cache.blocksOf(name), ...cache.borrowedBy(name).map(asPrefix)],
  };
}

function viewTunnel({
  mac,
  ipv4,
  ipv6,
}: {
  mac: string;
  ipv4?: string | undefined;
  ipv6?: string | undefined;
}) {
  return { mac, ...compact({ ipv4, ipv6 }) };
}

const asPrefix = (address: string): string => `${address}/${addressBits(familyOf(address))}`;

/** Everything the node needs for the peer, over all of its networks; each takes the blocks that lie in its pools. */
export function planPeer(sides: readonly NetworkSide[], peer: PeerView): Resource[] {
  const planned = sides.flatMap(({ model, view }) => model.planPeer(view, peer));
  return sides.length === 1 ? planned : withoutDoubles(planned);
}
