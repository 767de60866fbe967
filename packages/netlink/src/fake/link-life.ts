/** Effects on addresses, routes and everything else when links come, go, rise and fall. */
import { addressToBytes, parseInterfaceAddress } from '@podwire/addresses';
import type { InterfaceAddressEntry } from '../address.js';
import { decodeIp } from '../ip-address.js';
import { encodeMac } from '../mac.js';
import type { Route } from '../route-decoder.js';
import { connectedRoutes, multicastRoute } from './connected-routes.js';
import { isRunning } from './link-wire.js';
import type { FakeLink, NamespaceState } from './state.js';

export function bringUp(link: FakeLink): void {
  if (link.up) return;
  link.up = true;
  const { namespace } = link;
  if (link.name === 'lo') addLoopbackAddresses(link);
  for (const entry of addressesOf(link)) addRoutes(namespace, connectedRoutes(link, entry));
  if (link.name !== 'lo') addRoutes(namespace, [multicastRoute(link)]);
  for (const end of [link, link.peer]) if (end !== undefined && isRunning(end)) addLinkLocal(end);
}

/**
 * IPv4 keeps the addresses, and the routes that make them local; IPv6 loses everything (keep_addr_on_down is off by
 * default).
 */
export function takeDown(link: FakeLink): void {
  if (!link.up) return;
  link.up = false;
  const { namespace, index } = link;
  namespace.addresses = namespace.addresses.filter((entry) => entry.link !== index || entry.family === 4);
  const survives = (route: Route) => route.family === 4 && route.type === 'local';
  dropRoutes(namespace, index, survives);
  namespace.neighbours = namespace.neighbours.filter((entry) => entry.link !== index);
}

/** With the last IPv4 address: the link speaks it no more (fib_disable_ip(), arp_ifdown()). */
export function endIpv4({ namespace, index }: FakeLink): void {
  dropRoutes(namespace, index, ({ family }) => family === 6);
  namespace.neighbours = namespace.neighbours.filter(({ link, family }) => link !== index || family === 6);
}

/** Takes a link out of its namespace, with all that hangs on it. */
export function detach(link: FakeLink): void {
  const { namespace, index } = link;
  takeDown(link);
  namespace.links.delete(index);
  dropRoutes(namespace, index, () => false);
  const other = (entry: { readonly link: number }) => entry.link !== index;
  namespace.addresses = namespace.addresses.filter(other);
  namespace.neighbours = namespace.neighbours.filter(other);
  namespace.forwarding = namespace.forwarding.filter((entry) => other(entry) && entry.master !== index);
  namespace.qdiscs = namespace.qdiscs.filter(other);
  namespace.classes = namespace.classes.filter(other);
  namespace.filters = namespace.filters.filter(other).map((filter) => forgetTarget(filter, index));
  for (const slave of namespace.links.values()) if (slave.master === index) slave.master = undefined;
}

/** A redirect whose target is gone stays, and says that its target is 0. */
function forgetTarget<T extends { settings?: { actions: readonly object[] } }>(filter: T, index: number): T {
  const actions = filter.settings?.actions.map((action) =>
    'target' in action && action.target === index ? { ...action, target: 0 } : action,
  );
  return actions === undefined ? filter : { ...filter, settings: { ...filter.settings, actions } };
}

/** Ends a link's life: a veth takes its peer along, a link what sits on it. */
export function destroy(link: FakeLink): void {
  const { namespace, index, peer } = link;
  if (!namespace.links.has(index)) return;
  detach(link);
  if (peer !== undefined) destroy(peer);
  for (const upper of [...namespace.links.values()]) if (sitsOn(upper, index)) destroy(upper);
}

const sitsOn = (link: FakeLink, index: number): boolean =>
  link.parent === index || (link.settings?.kind === 'vxlan' && link.settings.underlay === index);

export const addressesOf = (link: FakeLink): InterfaceAddressEntry[] =>
  link.namespace.addresses.filter((entry) => entry.link === link.index);

/** The kernel's own routes; one that is there already is not doubled. */
export function addRoutes(namespace: NamespaceState, routes: readonly Route[]): void {
  for (const route of routes) {
    const same = (other: Route) =>
      other.destination === route.destination && other.table === route.table && other.link === route.link;
    if (!namespace.routes.some(same)) namespace.routes.push(route);
  }
}

function dropRoutes(namespace: NamespaceState, link: number, survives: (route: Route) => boolean): void {
  namespace.routes = namespace.routes
    .map((route) => withoutHops(route, link))
    .filter((route) => survives(route) || (route.link !== link && route.nextHops?.length !== 0));
}

function withoutHops(route: Route, link: number): Route {
  if (route.nextHops === undefined) return route;
  return { ...route, nextHops: route.nextHops.filter((hop) => hop.link !== link) };
}

function addLoopbackAddresses(link: FakeLink): void {
  const entry = { link: link.index, scope: 'host', flags: ['permanent'] } as const;
  const has = (family: 4 | 6) => addressesOf(link).some((address) => address.family === family);
  if (!has(4)) link.namespace.addresses.push({ ...entry, family: 4, address: '127.0.0.1/8', label: 'lo' });
  if (!has(6)) link.namespace.addresses.push({ ...entry, family: 6, address: '::1/128' });
}

/** The address that IPv6 makes of a link-layer address (RFC 4291, appendix A), unless it is told not to. */
function addLinkLocal(link: FakeLink): void {
  if (link.name === 'lo' || link.addressGenerationMode !== 'eui64') return;
  const mac = encodeMac(link.mac);
  const { address } = parseInterfaceAddress('fe80::/64');
  const bytes = addressToBytes(address);
  bytes.set([mac[0]! ^ 2, mac[1]!, mac[2]!, 0xff, 0xfe, mac[3]!, mac[4]!, mac[5]!], 8);
  const text = `${decodeIp(bytes)}/64`;
  if (addressesOf(link).some((entry) => entry.address === text)) return;
  const entry = { family: 6, link: link.index, address: text, scope: 'link', flags: ['permanent'] } as const;
  link.namespace.addresses.push(entry);
  addRoutes(link.namespace, connectedRoutes(link, entry));
}
