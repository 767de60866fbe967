import { compact } from '@podwire/platform';
import { NLM_F_APPEND, NLM_F_CREATE, NLM_F_EXCL, NLM_F_REPLACE } from '../protocol.js';
import type { NetlinkMessage } from '../connection.js';
import { addRouteRequest, type NewRoute } from '../route.js';
import { decodeRoute, type NextHop, type Route } from '../route-decoder.js';
import { RT_TABLE_DEFAULT, RT_TABLE_LOCAL, RT_TABLE_MAIN, type RouteType } from '../route-attributes.js';
import { FakeErrno } from './errno.js';
import { resolveHops } from './next-hops.js';
import type { FakeContext, NamespaceState } from './state.js';

const IPV6_METRIC = 1024;
const refusing: readonly (RouteType | number)[] = ['blackhole', 'unreachable', 'prohibit', 'throw'];

/** RTM_NEWROUTE */
export function newRoute({ namespace }: FakeContext, message: NetlinkMessage): Buffer[] {
  const route = complete(namespace, readRequest(message));
  const { flags } = message;
  const index = namespace.routes.findIndex((other) => hasSameKey(other, route));
  const append = (flags & NLM_F_APPEND) !== 0;
  if (index < 0) insert(namespace, route, flags);
  else if ((flags & NLM_F_EXCL) !== 0) throw new FakeErrno('EEXIST');
  else if ((flags & NLM_F_REPLACE) !== 0) namespace.routes[index] = route;
  else if (append && [namespace.routes[index]!, route].every(isJoinable))
    namespace.routes[index] = join(namespace.routes[index]!, route);
  else appendDistinct(namespace, route);
  return [];
}

function insert(namespace: NamespaceState, route: Route, flags: number): void {
  if ((flags & NLM_F_CREATE) === 0) throw new FakeErrno('ENOENT');
  namespace.routes.push(route);
}

function appendDistinct(namespace: NamespaceState, route: Route): void {
  const text = JSON.stringify(route);
  if (namespace.routes.some((other) => JSON.stringify(other) === text)) throw new FakeErrno('EEXIST');
  namespace.routes.push(route);
}

/** IPv6 makes one multipath route of those for the same destination that have gateways. */
const isJoinable = ({ family, gateway, nextHops }: Route): boolean =>
  family === 6 && (gateway !== undefined || nextHops !== undefined);

function join(route: Route, added: Route): Route {
  const hops = [route, added].flatMap((part) => part.nextHops ?? [{ ...hopOf(part), weight: 1 }]);
  if (new Set(hops.map((hop) => JSON.stringify(hop))).size < hops.length) throw new FakeErrno('EEXIST');
  return withHops(route, hops);
}

/** IPv6 shows one next hop as a route without others. */
function withHops(route: Route, hops: readonly NextHop[]): Route {
  const { link: _link, gateway: _gateway, onlink: _onlink, nextHops: _hops, ...rest } = route;
  const [only, ...others] = hops;
  if (route.family === 4 || only === undefined || others.length > 0) return { ...rest, nextHops: hops };
  return { ...rest, ...hopOf(only) };
}

function hopOf({ link, gateway, onlink }: Pick<Route, 'link' | 'gateway' | 'onlink'>) {
  return compact({ link, gateway, onlink });
}

const hasSameKey = (a: Route, b: Route): boolean =>
  a.destination === b.destination &&
  a.table === b.table &&
  (a.metric ?? 0) === (b.metric ?? 0) &&
  (a.typeOfService ?? 0) === (b.typeOfService ?? 0);

function readRequest(message: NetlinkMessage): Route {
  const route = decodeRoute(message);
  if (route === undefined) throw new FakeErrno('EAFNOSUPPORT');
  return route;
}

/** Checks a new route and fills in what the kernel would. */
function complete(namespace: NamespaceState, request: Route): Route {
  const refuses = refusing.includes(request.type);
  if (refuses && request.family === 4 && hasHops(request)) {
    const text = 'Gateway, device and multipath can not be specified for this route type';
    throw new FakeErrno('EINVAL', text);
  }
  const route = refuses ? request : resolveHops(namespace, request);
  if (route.family === 4) return route;
  const { scope: _scope, ...rest } = route.nextHops === undefined ? route : withHops(route, route.nextHops);
  return { ...rest, ...(refuses ? { link: 1 } : {}), scope: 'global', metric: route.metric || IPV6_METRIC };
}

const hasHops = (route: Route): boolean =>
  route.link !== undefined || route.gateway !== undefined || route.nextHops !== undefined;

/** RTM_DELROUTE */
export function deleteRoute({ namespace }: FakeContext, message: NetlinkMessage): Buffer[] {
  const request = readRequest(message);
  for (const one of eachHop(request)) deleteOne(namespace, one);
  return [];
}

/** IPv6 has a route for each next hop. */
const eachHop = (request: Route): Route[] =>
  request.family === 4 || request.nextHops === undefined
    ? [request]
    : request.nextHops.map((hop) => withHops(request, [hop]));

function deleteOne(namespace: NamespaceState, request: Route): void {
  const candidates = namespace.routes.filter((route) => isMeant(route, request));
  const first = candidates.sort((a, b) => (a.metric ?? 0) - (b.metric ?? 0))[0];
  if (first === undefined)
    throw new FakeErrno('ESRCH', hasTable(namespace, request) ? undefined : 'FIB table does not exist');
  const left = leftHops(first, request);
  namespace.routes = namespace.routes.flatMap((route) => {
    if (route !== first) return [route];
    return left.length === 0 ? [] : [withHops(route, left)];
  });
}

/** Next hops of an IPv6 route that the request does not mean. */
function leftHops({ family, nextHops = [] }: Route, request: Route): NextHop[] {
  const meansAll = request.link === undefined && request.gateway === undefined;
  return family === 4 || meansAll ? [] : nextHops.filter((hop) => !isHop(hop, request));
}

const isHop = (hop: Pick<Route, 'link' | 'gateway'>, { link, gateway }: Route): boolean =>
  [undefined, hop.link].includes(link) && [undefined, hop.gateway].includes(gateway);

function isMeant(route: Route, request: Route): boolean {
  const matches = <K extends keyof Route>(key: K, ...any: (Route[K] | undefined)[]) =>
    [undefined, ...any].includes(request[key]) || request[key] === route[key];
  const header = route.family === 6 || (matches('type', 'unspecified') && matches('scope', 'nowhere'));
  return (
    route.family === request.family &&
    route.destination === request.destination &&
    route.table === request.table &&
    header &&
    matches('protocol', 0) &&
    matches('metric', 0) &&
    meansHops(route, request) &&
    matches('preferredSource')
  );
}

const describeHops = ({ nextHops = [] }: Route): string =>
  JSON.stringify(nextHops.map(({ link, gateway, weight }) => [link, gateway, weight]));

function meansHops(route: Route, request: Route): boolean {
  if (request.nextHops !== undefined) return describeHops(route) === describeHops(request);
  const hops = route.family === 6 ? route.nextHops : undefined;
  return (hops ?? [route]).some((hop) => isHop(hop, request));
}

const permanentTables: readonly number[] = [RT_TABLE_DEFAULT, RT_TABLE_MAIN, RT_TABLE_LOCAL];

const hasTable = (namespace: NamespaceState, { family, table }: Pick<Route, 'family' | 'table'>): boolean =>
  permanentTables.includes(table) ||
  namespace.routes.some((route) => route.family === family && route.table === table);

/** RTM_GETROUTE for all. */
export function dumpRoutes({ namespace }: FakeContext, message: NetlinkMessage): Buffer[] {
  const filter = readRequest(message);
  if (filter.table !== 0 && !hasTable(namespace, filter)) {
    throw new FakeErrno('ENOENT', 'FIB table does not exist');
  }
  if (filter.link !== undefined && !namespace.links.has(filter.link)) throw new FakeErrno('ENODEV');
  return namespace.routes.filter((route) => isWanted(route, filter)).map(encodeRoute);
}

function isWanted(route: Route, filter: Route): boolean {
  const links = route.nextHops?.map((hop) => hop.link) ?? [route.link];
  return (
    route.family === filter.family &&
    (filter.table === 0 || route.table === filter.table) &&
    (filter.protocol === 0 || route.protocol === filter.protocol) &&
    (filter.type === 'unspecified' || route.type === filter.type) &&
    (filter.link === undefined || links.includes(filter.link))
  );
}

export const encodeRoute = (route: Route): Buffer => addRouteRequest(route as NewRoute).payload as Buffer;
