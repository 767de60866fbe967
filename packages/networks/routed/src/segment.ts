import { containsAddress, type Family, parseInterfaceAddress, prefixOf } from '@podwire/addresses';
import type { PeerView, UnderlayView } from '@podwire/network-contract';

/**
 * Reports if two nodes reach each other in this family without a router, by their addresses' prefixes. Both must think
 * so: if only one did, packets would take one path there and another one back.
 */
export function sharesSegment(
  node: Pick<UnderlayView, 'ipv4' | 'ipv6'>,
  peer: Pick<PeerView, 'ipv4' | 'ipv6'>,
  family: Family,
): boolean {
  const [ours, theirs] = family === 4 ? [node.ipv4, peer.ipv4] : [node.ipv6, peer.ipv6];
  if (ours === undefined || theirs === undefined) return false;
  const [here, there] = [parseInterfaceAddress(ours), parseInterfaceAddress(theirs)];
  return (
    containsAddress(prefixOf(here.address, here.length), there.address) &&
    containsAddress(prefixOf(there.address, there.length), here.address)
  );
}
