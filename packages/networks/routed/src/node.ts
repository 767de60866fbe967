import { type Family, familyOf, parsePrefix } from '@podwire/addresses';
import { sysctlKey, tableKey } from '@podwire/backend-linux/keys';
import type { IpRoute, Sysctl } from '@podwire/backend-linux/resources';
import type { Resource } from '@podwire/engine';
import type { NodeView } from '@podwire/network-contract';
import { trafficTable } from '@podwire/network-traffic';
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

/**
 * Of the families that pods have. `ip_forward` sets the default for new interfaces too, but only when it changes: on a node that
 * forwards already, the default may still say no. IPv6 asks `all` alone. A node must not forward before its packet filter
 * stands.
 */
function forwarding(node: NodeView): Sysctl[] {
  const { ipv4, ipv6, network } = node;
  const hasPool = (family: Family): boolean => network.pools.some(({ cidr }) => familyOf(cidr) === family);
  const guard = tableKey(trafficTable);
  const on = (key: string, ...after: string[]): Sysctl => ({
    ...{ kind: 'sysctl', in: 'host', key, value: '1', after: [guard, ...after] },
  });
  const listening = goOnListening(node);
  const forward4 = [on('net/ipv4/ip_forward'), on('net/ipv4/conf/default/forwarding')];
  const forward6 = [...listening, on('net/ipv6/conf/all/forwarding', ...listening.map(sysctlKey))];
  return [...(ipv4 && hasPool(4) ? forward4 : []), ...(ipv6 && hasPool(6) ? forward6 : [])];
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
