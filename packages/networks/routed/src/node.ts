import { parsePrefix } from '@podwire/addresses';
import type { IpRoute, Resource, Sysctl } from '@podwire/engine';
import type { NodeView } from '@podwire/network-contract';
import { planTunnel } from './tunnel.js';

/**
 * Larger than what pods' own routes have (0 and, for IPv6, 1024), for blocks that are a single address; otherwise the longer
 * prefix wins anyway.
 */
const BLACKHOLE_METRIC = 4096;

/** What the node needs before the first pod: it forwards, has its end of tunnels, and packets for a free address of its own blocks end here. */
export function planNode(node: NodeView): Resource[] {
  // Forwarding first: a link takes the default that stands when it is made.
  return [...forwarding(node), ...planTunnel(node), ...node.blocks.map(blackhole)];
}

/**
 * `ip_forward` sets the default for new interfaces too, but only when it changes: on a node that forwards already, the default
 * may still say no. IPv6 asks `all` alone.
 */
function forwarding({ ipv4, ipv6 }: NodeView): Sysctl[] {
  const keys = [
    ...(ipv4 ? ['net/ipv4/ip_forward', 'net/ipv4/conf/default/forwarding'] : []),
    ...(ipv6 ? ['net/ipv6/conf/all/forwarding'] : []),
  ];
  return keys.map((key) => ({ kind: 'sysctl', in: 'host', key, value: '1' }));
}

/** Without it a packet for an address that no pod has would leave by the default route and come back, until its TTL ends. */
function blackhole(block: string): IpRoute {
  parsePrefix(block);
  return { kind: 'route', in: 'host', type: 'blackhole', destination: block, metric: BLACKHOLE_METRIC };
}
