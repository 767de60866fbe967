/** The part of a link's configuration that moves with the link's role: what others than the kernel have put there. */
import { containsAddress, parsePrefix } from '@podwire/addresses';
import {
  decodeAddress,
  decodeRoute,
  decodeRule,
  type InterfaceAddressEntry,
  type LinkName,
  listAddressMessages,
  listRouteMessages,
  listRuleMessages,
  type NetlinkConnection,
  type NetlinkMessage,
  type Route,
  RT_TABLE_LOCAL,
  RTPROT_KERNEL,
  type Rule,
} from '@podwire/netlink';

/** An entry, as this program understands it and as the kernel has written it. */
export interface Written<T> {
  readonly entry: T;
  readonly message: NetlinkMessage;
}

export interface LinkContents {
  /** IPv4 first; each family in the order in which it is added. */
  readonly addresses: readonly Written<InterfaceAddressEntry>[];
  /** Each after those that its gateway is found by. */
  readonly routes: readonly Written<Route>[];
  readonly rules: readonly Written<Rule>[];
}

/** Link-local addresses of IPv6 stay: the kernel gives each link its own. */
export const isMovedAddress = ({ family, scope }: InterfaceAddressEntry): boolean =>
  family === 4 || scope !== 'link';

const linkLocal = parsePrefix('fe80::/10');

/**
 * Routes that make addresses local and broadcasts come and go with addresses. Those to prefixes do as well, but not all: for an
 * address with `noprefixroute` another program has added them, as the kernel's.
 */
function isMovedRoute({ family, destination, protocol, type, table }: Route): boolean {
  if (protocol === RTPROT_KERNEL && (type !== 'unicast' || table === RT_TABLE_LOCAL)) return false;
  return family === 4 || !containsAddress(linkLocal, parsePrefix(destination).address);
}

const isRuleOf = ({ inputLink, outputLink }: Rule, name: string): boolean =>
  inputLink === name || outputLink === name;

export function readContents(route: NetlinkConnection, { index, name }: LinkName): LinkContents {
  const addresses = decodeAll(listAddressMessages(route, { link: index }), decodeAddress).filter(
    ({ entry }) => entry.link === index && isMovedAddress(entry),
  );
  const routes = decodeAll(listRouteMessages(route, { link: index }), decodeRoute);
  const rules = decodeAll(listRuleMessages(route), decodeRule);
  return {
    addresses: sortAddresses(addresses),
    routes: routes
      .filter(({ entry }) => leadsThrough(entry, index) && isMovedRoute(entry))
      .sort((a, b) => rank(a.entry) - rank(b.entry)),
    rules: rules.filter(({ entry }) => isRuleOf(entry, name)),
  };
}

const decodeAll = <T>(
  messages: readonly NetlinkMessage[],
  decode: (message: NetlinkMessage) => T | undefined,
): Written<T>[] =>
  messages.flatMap((message) => {
    const entry = decode(message);
    return entry === undefined ? [] : [{ entry, message }];
  });

/** Of IPv6 the kernel lists the one first that was added last (ipv6_link_dev_addr). */
function sortAddresses(
  addresses: readonly Written<InterfaceAddressEntry>[],
): Written<InterfaceAddressEntry>[] {
  const ofFamily = (family: 4 | 6): Written<InterfaceAddressEntry>[] =>
    addresses.filter(({ entry }) => entry.family === family);
  return [...ofFamily(4), ...ofFamily(6).reverse()];
}

const leadsThrough = ({ link, nextHops }: Route, index: number): boolean =>
  link === index || nextHops?.some((hop) => hop.link === index) === true;

const scopes: readonly Route['scope'][] = ['host', 'link', 'site', 'global'];

/** A gateway is found by a route of narrower scope, in IPv6 by one without a gateway. */
function rank({ scope, gateway, nextHops }: Route): number {
  const viaGateway = gateway !== undefined || nextHops !== undefined;
  return 2 * scopes.indexOf(scope) + Number(viaGateway);
}
