/** Finds the link of a next hop and checks that it can be reached, as fib_check_nh and ip6_validate_gw do. */
import { containsAddress, parseAddress, parsePrefix } from '@podwire/addresses';
import type { NextHop, Route } from '../route-decoder.js';
import { RT_TABLE_LOCAL, RT_TABLE_MAIN } from '../route-attributes.js';
import { FakeErrno } from './errno.js';
import type { FakeLink, NamespaceState } from './state.js';

type Hop = Pick<NextHop, 'link' | 'gateway' | 'onlink'>;

/** The route with the links that its gateways are on. @throws FakeErrno as the kernel refuses it */
export function resolveHops(namespace: NamespaceState, route: Route): Route {
  if (route.nextHops === undefined) return { ...route, ...resolveHop(namespace, route, route) };
  const nextHops = route.nextHops.map((hop) => ({ ...hop, ...resolveHop(namespace, route, hop) }));
  return { ...route, nextHops };
}

function resolveHop(namespace: NamespaceState, route: Route, hop: Hop): { link: number } {
  const link = hop.gateway === undefined ? hop.link : linkOfGateway(namespace, route, hop, hop.gateway);
  if (link === undefined) throw new FakeErrno('ENODEV');
  requireUp(requireLink(namespace, link), route.family);
  return { link };
}

function requireLink(namespace: NamespaceState, index: number): FakeLink {
  const link = namespace.links.get(index);
  if (link === undefined) throw new FakeErrno('ENODEV');
  return link;
}

function requireUp(link: FakeLink, family: 4 | 6): void {
  if (link.up) return;
  const text = family === 4 ? 'Device for nexthop is not up' : 'Nexthop device is not up';
  throw new FakeErrno('ENETDOWN', text);
}

function linkOfGateway(
  namespace: NamespaceState,
  route: Route,
  hop: Hop,
  gateway: string,
): number | undefined {
  if (hop.onlink === true) {
    if (hop.link === undefined) throw new FakeErrno('ENODEV', 'Nexthop device required for onlink');
    return hop.link;
  }
  const { family } = parseAddress(gateway);
  if (family === 4) return linkOfGateway4(namespace, route, hop, gateway);
  if (hop.link !== undefined) requireUp(requireLink(namespace, hop.link), family);
  return linkOfGateway6(namespace, hop, gateway);
}

/** A gateway must be reachable without another gateway; for IPv4 the scope says so. */
function isDirect(route: Route): boolean {
  if (route.family === 4 && route.scope !== 'link' && route.scope !== 'host') return false;
  return route.gateway === undefined && route.nextHops === undefined;
}

function linkOfGateway4(
  namespace: NamespaceState,
  route: Route,
  hop: Hop,
  gateway: string,
): number | undefined {
  const found = lookUp(namespace, gateway, hop.link, [RT_TABLE_LOCAL, RT_TABLE_MAIN, route.table]);
  if (found === undefined) throw new FakeErrno('ENETUNREACH', 'Nexthop has invalid gateway');
  if (found.type !== 'unicast' && found.type !== 'local') {
    throw new FakeErrno('EINVAL', 'Nexthop has invalid gateway');
  }
  return found.link;
}

function linkOfGateway6(namespace: NamespaceState, hop: Hop, gateway: string): number | undefined {
  if (containsAddress(parsePrefix('fe80::/10'), parseAddress(gateway))) {
    if (hop.link === undefined) throw new FakeErrno('EINVAL', 'Egress device not specified');
    return hop.link;
  }
  if (namespace.addresses.some(({ address }) => address.startsWith(`${gateway}/`))) {
    throw new FakeErrno('EINVAL', 'Gateway can not be a local address');
  }
  const found = lookUp(namespace, gateway, hop.link, [RT_TABLE_MAIN]);
  if (found === undefined) throw new FakeErrno('EHOSTUNREACH');
  return found.link;
}

/** The most specific direct route to an address in some tables. */
function lookUp(
  namespace: NamespaceState,
  text: string,
  link: number | undefined,
  tables: readonly number[],
): Route | undefined {
  const address = parseAddress(text);
  return namespace.routes
    .filter((route) => tables.includes(route.table) && isDirect(route))
    .filter((route) => link === undefined || route.link === link)
    .filter((route) => containsAddress(parsePrefix(route.destination), address))
    .sort((a, b) => parsePrefix(b.destination).length - parsePrefix(a.destination).length)[0];
}
