/** Makes a router of the node. */
import type { Family } from '@podwire/addresses';
import { sysctlKey, tableKey } from '@podwire/backend-linux/keys';
import type { Sysctl } from '@podwire/backend-linux/resources';
import type { NodeView } from '@podwire/network-contract';
import { trafficTable } from './traffic-table.js';

/**
 * The node forwards packets of these families. `ip_forward` sets the default for new interfaces too, but only when it changes: on a node that
 * forwards already, the default may still say no. IPv6 asks `all` alone. A node must not forward before its packet filter
 * stands.
 */
export function planForwarding(node: Pick<NodeView, 'router'>, families: readonly Family[]): Sysctl[] {
  const guard = tableKey(trafficTable);
  const on = (key: string, ...after: string[]): Sysctl => ({
    ...{ kind: 'sysctl', in: 'host', key, value: '1', after: [guard, ...after] },
  });
  const listening = goOnListening(node);
  const forward4 = [on('net/ipv4/ip_forward'), on('net/ipv4/conf/default/forwarding')];
  const forward6 = [...listening, on('net/ipv6/conf/all/forwarding', ...listening.map(sysctlKey))];
  return [...(families.includes(4) ? forward4 : []), ...(families.includes(6) ? forward6 : [])];
}

/**
 * A router takes no routes from other routers: the kernel deletes those it has when it becomes one (rt6_purge_dflt_routers), unless
 * `accept_ra` is 2, which must stand before. All links that listened as hosts go on, and those to come: the next advertisement may
 * come through any of them. A node that forwarded before listened on none of them, and goes on so.
 */
function goOnListening({ router }: Pick<NodeView, 'router'>): Sysctl[] {
  if (router?.forwarded[6] !== false) return [];
  return router.advertised.map((link) => ({
    kind: 'sysctl',
    in: 'host',
    key: `net/ipv6/conf/${link}/accept_ra`,
    value: '2',
    optional: true, // it may be gone
  }));
}
