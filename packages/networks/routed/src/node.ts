import { type Family, familyOf, parsePrefix } from '@podwire/addresses';
import type { IpRoute, Sysctl } from '@podwire/backend-linux/resources';
import type { Resource } from '@podwire/engine';
import type { NodeView } from '@podwire/network-contract';
import { planOwnAddress } from './own-address.js';
import { planTunnel } from './tunnel.js';

/**
 * Larger than what pods' own routes have (0 and, for IPv6, 1024), for blocks that are a single address; otherwise the longer
 * prefix wins anyway.
 */
const BLACKHOLE_METRIC = 4096;

/** What the node needs before the first pod: it forwards, has its end of tunnels, and packets for a free address of its own blocks end here. */
export function planNode(node: NodeView): Resource[] {
  // Forwarding first: a link takes the default that stands when it is made.
  return [...forwarding(node), ...planOwnAddress(node), ...planTunnel(node), ...node.blocks.map(blackhole)];
}

/**
 * Of the families that pods have. `ip_forward` sets the default for new interfaces too, but only when it changes: on a node that
 * forwards already, the default may still say no. IPv6 asks `all` alone.
 */
function forwarding(node: NodeView): Sysctl[] {
  const { ipv4, ipv6, network } = node;
  const hasPool = (family: Family): boolean => network.pools.some(({ cidr }) => familyOf(cidr) === family);
  const on = (key: string): Sysctl => ({ kind: 'sysctl', in: 'host', key, value: '1' });
  return [
    ...(ipv4 && hasPool(4) ? ['net/ipv4/ip_forward', 'net/ipv4/conf/default/forwarding'].map(on) : []),
    ...(ipv6 && hasPool(6) ? [...goOnListening(node), on('net/ipv6/conf/all/forwarding')] : []),
  ];
}

/**
 * A router takes no routes from other routers: the kernel deletes those it has when it becomes one (rt6_purge_dflt_routers), unless
 * `accept_ra` is 2, which must stand before. All links that listened as hosts go on, and those to come: the next advertisement may
 * come through any of them. A node that forwarded before listened on none of them, and goes on so.
 */
function goOnListening({ router }: NodeView): Sysctl[] {
  if (router?.forwarded[6] !== false) return [];
  return router.advertised.map((link) => ({
    kind: 'sysctl',
    in: 'host',
    key: `net/ipv6/conf/${link}/accept_ra`,
    value: '2',
    optional: true, // it may be gone
  }));
}

/** Without it a packet for an address that no pod has would leave by the default route and come back, until its TTL ends. */
function blackhole(block: string): IpRoute {
  parsePrefix(block);
  return { kind: 'route', in: 'host', type: 'blackhole', destination: block, metric: BLACKHOLE_METRIC };
}
