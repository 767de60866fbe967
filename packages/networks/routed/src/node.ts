import { type Family, familyOf, parsePrefix } from '@podwire/addresses';
import type { IpRoute, Sysctl } from '@podwire/backend-linux/resources';
import type { Resource } from '@podwire/engine';
import type { NodeView } from '@podwire/network-contract';
import { planForwarding } from '@podwire/network-traffic';
import { planOwnAddress } from './own-address.js';
import { planTunnel } from './tunnel.js';

/**
 * Larger than what pods' own routes have (0 and, for IPv6, 1024), for blocks that are a single address; otherwise the longer
 * prefix wins anyway.
 */
const BLACKHOLE_METRIC = 4096;

/** Resources of the node before the first pod: forwarding, ends of tunnels, blackholes for its free addresses. */
export function planNode(node: NodeView): Resource[] {
  // Forwarding first: a link takes the default that stands when it is made.
  return [...forwarding(node), ...planOwnAddress(node), ...planTunnel(node), ...node.blocks.map(blackhole)];
}

/** Of the families that pods have. */
function forwarding(node: NodeView): Sysctl[] {
  const hasPool = (family: Family): boolean =>
    node.network.pools.some(({ cidr }) => familyOf(cidr) === family);
  return planForwarding(
    node,
    ([4, 6] as const).filter((family) => node[`ipv${family}`] && hasPool(family)),
  );
}

/** Without it a packet for an address that no pod has would leave by the default route and come back, until its TTL ends. */
function blackhole(block: string): IpRoute {
  parsePrefix(block);
  return { kind: 'route', in: 'host', type: 'blackhole', destination: block, metric: BLACKHOLE_METRIC };
}
