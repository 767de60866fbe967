/** VLANs and VNIs of networks, from the ranges of the global settings. */
import type { ClusterView, FreeSet, Global, Network, NetworkTags } from '../contract.js';
import { networkKey } from '../keys.js';
import {
  hasTag,
  highestVlan,
  parseTagRange,
  type TagRange,
  vlanLimits,
  vxlanLimits,
} from '../objects/tag-range.js';
import { conflict, exhausted } from '../problems.js';

/**
 * The tags of a new network: what it asks for, or the lowest that are free.
 * @throws PodwireError TENANT_CONFLICT, TENANT_EXHAUSTED
 */
export function chooseTags(cluster: ClusterView, global: Global, network: Network): NetworkTags {
  if (network.encap === 'vlan') {
    const range = parseTagRange(global.vlans, vlanLimits);
    return { pktTag: chooseTag(cluster.vlans, range, network, 'VLAN'), extPktTag: 0 };
  }
  const range = parseTagRange(global.vxlans, vxlanLimits);
  const extPktTag = chooseTag(cluster.vnis, range, network, 'VNI');
  const pktTag = cluster.localVlans.firstFrom(1);
  if (pktTag === undefined)
    throw exhausted(
      subjectOf(network),
      `all ${highestVlan} VLANs that stand for VNIs within a node are taken`,
      'Delete networks that are not needed.',
    );
  return { pktTag, extPktTag };
}

function chooseTag(free: FreeSet, range: TagRange, network: Network, word: 'VLAN' | 'VNI'): number {
  const { lowest, highest } = range;
  if (network.pktTag !== undefined) return requireFree(free, range, network, network.pktTag, word);
  const found = free.firstFrom(lowest);
  if (found !== undefined && hasTag(range, found)) return found;
  throw exhausted(
    subjectOf(network),
    `no ${word} of ${lowest}-${highest} is free`,
    'Delete networks that are not needed, or widen the range: vlans or vxlans of globals/global.',
  );
}

function requireFree(free: FreeSet, range: TagRange, network: Network, tag: number, word: string): number {
  const { lowest, highest } = range;
  if (!hasTag(range, tag))
    throw conflict(
      subjectOf(network),
      'pktTag',
      `asks for ${word} ${tag}, which is not in ${lowest}-${highest}`,
    );
  if (free.isFree(tag)) return tag;
  throw conflict(subjectOf(network), 'pktTag', `asks for ${word} ${tag}, which another network has`);
}

const subjectOf = (network: Network): string => `network ${networkKey(network)}`;
