import { createHash } from 'node:crypto';
import { type Family, formatPrefix, hostPrefix, parseAddress } from '@podwire/addresses';
import type { Resource } from '@podwire/engine';
import type { NodeView } from '@podwire/network-contract';
import { needsTunnel, tunnel, tunnelEnd } from '@podwire/network-traffic';
import { tunnelMtu } from './mtu.js';

/** The MAC of a node's end of tunnels, from its name as Calico makes it: nodes need not be asked for it. */
export function tunnelMac(nodeName: string): string {
  const digest = createHash('sha1').update(nodeName).digest('hex');
  return `66:${digest.slice(0, 10).match(/../g)!.join(':')}`;
}

/**
 * The node's end of tunnels, when some pool of the network needs it. Its addresses are the node's when it speaks to pods
 * elsewhere: what comes back to them comes through the tunnel too, so strict rp_filter is content.
 */
export function planTunnel(node: NodeView): Resource[] {
  const { underlay } = node;
  const local = underlay === undefined ? undefined : tunnelEnd(underlay);
  if (underlay === undefined || local === undefined || !needsTunnel(node)) return [];
  const { link, id, port } = tunnel;
  const mac = node.tunnel?.mac ?? tunnelMac(node.name);
  const mtu = tunnelMtu(underlay);
  return [
    { kind: 'vxlan', name: link, mac, id, port, local, underlay: underlay.link, mtu },
    // It needs no link-local address, and must not speak to a segment that it does not have.
    { kind: 'link-local-mode', in: 'host', link, mode: 'manual' },
    ...(node.ipv6 ? [ipv6On(link)] : []),
    { kind: 'link-up', in: 'host', link },
    ...tunnelAddresses(node).map((address): Resource => ({ kind: 'address', in: 'host', link, address })),
  ];
}

/** The node's default for new interfaces may be 1. */
const ipv6On = (link: string): Resource => ({
  kind: 'sysctl',
  in: 'host',
  key: `net/ipv6/conf/${link}/disable_ipv6`,
  value: '0',
});

/** Single addresses: that the rest of their block is here as well is not the tunnel's business. */
function tunnelAddresses({ tunnel: end, ipv4, ipv6 }: NodeView): string[] {
  const speaks: Readonly<Record<Family, boolean>> = { 4: ipv4, 6: ipv6 };
  return [end?.ipv4, end?.ipv6]
    .filter((address) => address !== undefined)
    .map(parseAddress)
    .filter(({ family }) => speaks[family])
    .map((address) => formatPrefix(hostPrefix(address)));
}
