import type { IpRoute, Sysctl } from '@podwire/backend-linux/resources';
import type { Resource } from '@podwire/engine';
import type { NodeView } from '@podwire/network-contract';
import { gateways } from './gateways.js';
import { familiesOf, type PodAddress } from './pod-addresses.js';

/** Resources of the node for one pod, beside the veth itself. */
export function planHostSide(link: string, addresses: readonly PodAddress[], node: NodeView): Resource[] {
  return [
    ...parameters(link, addresses),
    ...listenToNoRouter(link, node),
    ...linkLocal(link, addresses, node),
    { kind: 'link-up', in: 'host', link },
    ...addresses.map((address) => podRoute(link, address)),
    // Until then the kernel has no multicast route through it, and the node cannot ask who has the pod's IPv6 address.
    { kind: 'link-ready', in: 'host', link },
  ];
}

/**
 * - `proxy_arp`: a pod that loses its permanent entry for the gateway (its MAC is changed, e.g. by a chained `tuning`; a virtual
 *   machine in it has its own stack) asks for 169.254.1.1. The node answers if it has a default route.
 * - `rp_filter`, also for pods without IPv4: ARP is no business of the packet filter. The kernel looks the sender of a request up as it does the source of a packet,
 *   and with the strict check it neither answers an invented one nor remembers it: neighbour entries are few, and shared by the
 *   whole machine. The larger of this and `all` counts.
 * - `disable_ipv6`: the node's default for new interfaces may be 1.
 *
 * Nothing else: forwarding comes from the node's plan, and what accept_ra would let in is dropped by the packet filter.
 */
function parameters(link: string, addresses: readonly PodAddress[]): Sysctl[] {
  const parameter = (key: string, value: string): Sysctl => ({ kind: 'sysctl', in: 'host', key, value });
  const ofFamilies = familiesOf(addresses).map((family) =>
    family === 4
      ? parameter(`net/ipv4/conf/${link}/proxy_arp`, '1')
      : parameter(`net/ipv6/conf/${link}/disable_ipv6`, '0'),
  );
  return [parameter(`net/ipv4/conf/${link}/rp_filter`, '1'), ...ofFamilies];
}

/** The node's default for new interfaces, which the node's plan may have raised, is for its own networks. */
function listenToNoRouter(link: string, { router }: NodeView): Sysctl[] {
  if (router?.forwarded[6] !== false || !router.advertised.includes('default')) return [];
  return [{ kind: 'sysctl', in: 'host', key: `net/ipv6/conf/${link}/accept_ra`, value: '0' }];
}

/**
 * The kernel would make the same link-local address from the MAC, but only after duplicate address detection: a second without
 * gateway. Pods without IPv6 get none.
 */
function linkLocal(link: string, addresses: readonly PodAddress[], { ipv6 }: NodeView): Resource[] {
  if (!ipv6) return [];
  const mode: Resource = { kind: 'link-local-mode', in: 'host', link, mode: 'manual' };
  if (!familiesOf(addresses).includes(6)) return [mode];
  return [mode, { kind: 'address', in: 'host', link, address: `${gateways[6]}/64` }];
}

const podRoute = (link: string, { family, prefix }: PodAddress): IpRoute => ({
  kind: 'route',
  in: 'host',
  destination: prefix,
  link,
  ...(family === 4 ? { scope: 'link' } : {}),
});
