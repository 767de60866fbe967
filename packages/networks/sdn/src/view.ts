/** Nodes as the contract shows them, in the words of the flows. */
import { familyOf } from '@podwire/addresses';
import { PodwireError } from '@podwire/errors';
import type { NetworkView, NodeView, PeerView } from '@podwire/network-contract';
import { addressIn } from '@podwire/network-traffic';
import { isInNetwork } from './node/subnets.js';
import { optionsOf } from './options.js';
import type { SdnNode, SdnPeer } from './types.js';

const isIPv4 = (prefix: string): boolean => familyOf(prefix) === 4;

/**
 * The node with its HostSubnet; undefined while it has none.
 * @throws PodwireError CONFIG_INVALID for a node without an address for tunnels, or with several subnets
 */
export function nodeOf(view: NodeView): SdnNode | undefined {
  const { name, network, underlay } = view;
  const [subnet, ...others] = view.blocks.filter(isIPv4);
  if (subnet === undefined) return undefined;
  if (others.length > 0)
    throw unfit(view, `node ${name} has the blocks ${[subnet, ...others].join(', ')}, and may have one`);
  if (underlay?.ipv4 === undefined) throw unfit(view, `node ${name} has no IPv4 address for tunnels`);
  return { address: addressIn(underlay.ipv4), subnet, ...optionsOf(network) };
}

const unfit = ({ network }: NodeView, why: string): PodwireError =>
  new PodwireError('CONFIG_INVALID', `network ${network.name} of the model sdn: ${why}`);

/** Another node, once for each of its subnets in the network; empty where no tunnel leads there. */
export function peersOf({ name, ipv4, blocks }: PeerView, network: NetworkView): SdnPeer[] {
  if (ipv4 === undefined) return [];
  const { clusterNetworks } = optionsOf(network);
  return blocks
    .filter((block) => isIPv4(block) && isInNetwork(block, clusterNetworks))
    .map((subnet) => ({ uid: name, address: addressIn(ipv4), subnet }));
}
