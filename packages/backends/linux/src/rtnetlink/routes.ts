import type { Failure } from '@podwire/engine';
import { hasCode } from '@podwire/linux';
import {
  addRouteRequest,
  addRuleRequest,
  deleteRouteRequest,
  deleteRuleRequest,
  type NetlinkRequest,
  type NewRoute,
  replaceRouteRequest,
  type Route,
  RT_TABLE_MAIN,
} from '@podwire/netlink';
import * as is from '../checks.js';
import { ROUTE_PROTOCOL } from '../marks.js';
import { defineEntry, type LinkNumbers } from './kind.js';
import { nameShown, shownEntry } from './shown.js';
import type { IpRoute, IpRule } from './resources.js';

/** Metric that the kernel gives an IPv6 route without one (IP6_RT_PRIO_USER). */
const IPV6_DEFAULT_METRIC = 1024;

export const route = defineEntry<IpRoute>()({
  kind: 'route',
  check: is.resource<IpRoute>({
    ...{ in: is.side, destination: is.prefix, link: is.optional(is.link), gateway: is.optional(is.address) },
    ...{ type: is.optional(is.oneOf('unicast', 'blackhole', 'local')), scope: is.scope },
    ...{ onlink: is.optional(is.flag), metric: is.optional(is.count), table: is.optional(is.count) },
    mtu: is.optional(is.count),
  }),
  identify: (resource) => identifyRoute(resource.destination, tableOf(resource), metricOf(resource)),
  words: describeRoute,
  inPlace: true,
  create: (resource, links) => [addRouteRequest(encode(resource, links))],
  replace: (resource, links) => [replaceRouteRequest(encode(resource, links))],
  // With everything that was given, so that a foreign route to the same destination is never meant.
  delete: (resource, links) => [deleteRouteRequest(encode(resource, links))],
  observe(resource, view) {
    const side = view.side(resource.in);
    const link = resource.link === undefined ? undefined : side.link(resource.link);
    const candidates = side
      .routesTo(resource.destination, link, tableOf(resource))
      .filter((found) => isSameRoute(resource, found));
    return { link: link?.index, candidates, rest: side.describeRest('routes') };
  },
  shownBy(resource, now) {
    const found = shownEntry(now, 'route');
    if (found === undefined || !isSameRoute(resource, found)) return undefined;
    const isThere = nameShown(now, found.link) === resource.link;
    return { link: isThere ? found.link : undefined, candidates: [found], rest: '' };
  },
  compare(resource, { link, candidates, rest }) {
    const [first] = candidates;
    if (first === undefined) return { missing: `there is no route to ${resource.destination}${rest}` };
    if (candidates.some((found) => agrees(resource, found, link))) return undefined;
    const words = `the route to ${resource.destination} is ${describeFound(first)}`;
    const isForeign = resource.in === 'pod' && candidates.every((found) => leadsElsewhere(found, link));
    return isForeign ? { foreign: words, code: 'POD_ROUTE_TAKEN' } : words;
  },
});

/** The kernel has one route of each destination, table and metric, whatever it leads to. */
export const identifyRoute = (destination: string, table: number, metric: number): string =>
  `${destination} table ${table} metric ${metric}`;

function describeRoute({ type, destination, gateway, link }: IpRoute): string {
  const ofType = type === undefined || type === 'unicast' ? '' : `${type} `;
  const via = gateway === undefined ? '' : ` via ${gateway}`;
  const through = link === undefined ? '' : ` dev ${link}`;
  return `route ${ofType}${destination}${via}${through}`;
}

/** Takes away what stands in the place of the route, whatever it leads to. */
export const encodeClearance = (resource: IpRoute): NetlinkRequest =>
  deleteRouteRequest({
    destination: resource.destination,
    table: tableOf(resource),
    metric: metricOf(resource),
  });

/**
 * The kernel looks for an IPv6 gateway by the very route that it is to replace (`ip6_route_check_nh` and its like for
 * `onlink`). A gateway that lies inside the destination, as peers' tunnel ends do, is found behind the old link then:
 * EINVAL.
 */
export const isMisledByOld = ({ resource, error }: Failure): boolean =>
  resource.kind === 'route' && resource.gateway?.includes(':') === true && hasCode(error, 'EINVAL');

function encode(resource: IpRoute, links: LinkNumbers): NewRoute {
  const { in: place, link, kind: _, ...rest } = resource;
  const index = link === undefined ? {} : { link: links.indexOf(place, link) };
  return { ...rest, ...index, protocol: ROUTE_PROTOCOL };
}

const tableOf = ({ table }: IpRoute): number => table ?? RT_TABLE_MAIN;

const metricOf = ({ metric, destination }: IpRoute): number =>
  metric ?? (destination.includes(':') ? IPV6_DEFAULT_METRIC : 0);

/** Reports if the found one stands where the wanted one belongs. */
export const isSameRoute = (wanted: IpRoute, found: Route): boolean =>
  found.destination === wanted.destination &&
  found.table === tableOf(wanted) &&
  (found.metric ?? 0) === metricOf(wanted);

function agrees(resource: IpRoute, found: Route, link: number | undefined): boolean {
  // A blackhole in IPv6 is on the loopback although nothing asked for it.
  const sameLink = resource.type === 'blackhole' || found.link === link;
  return (
    found.type === (resource.type ?? 'unicast') &&
    sameLink &&
    found.gateway === resource.gateway &&
    (found.onlink ?? false) === (resource.onlink ?? false)
  );
}

/**
 * A pod may lead its traffic through another link of its own: a VPN does, and Multus where it is asked for another
 * default route. A route that leads nowhere (`unreachable`), or through the link that ADD made, only cuts the pod off.
 */
function leadsElsewhere({ type, link, nextHops }: Route, own: number | undefined): boolean {
  if (type !== 'unicast') return false;
  const links = nextHops?.map((hop) => hop.link) ?? [link];
  return !links.includes(own);
}

function describeFound(found: Route): string {
  const via = found.gateway === undefined ? '' : ` via ${found.gateway}`;
  const link = found.link === undefined ? '' : ` through link ${found.link}`;
  const onlink = found.onlink === true ? ' onlink' : '';
  return `${found.type}${via}${link}${onlink} (protocol ${found.protocol})`;
}

export const identifyRule = ({
  from,
  table,
  priority,
}: Pick<IpRule, 'from' | 'table' | 'priority'>): string => `${from} table ${table} priority ${priority}`;

export const rule = defineEntry<IpRule>()({
  kind: 'rule',
  check: is.resource<IpRule>({ in: is.side, from: is.prefix, table: is.count, priority: is.count }),
  identify: identifyRule,
  words: ({ from, table }) => `rule from ${from} to table ${table}`,
  inPlace: false,
  create: (resource) => [addRuleRequest(encodeRule(resource))],
  delete: (resource) => [deleteRuleRequest(encodeRule(resource))],
  observe({ in: place, from, table, priority }, view) {
    const side = view.side(place);
    const isThere = side
      .rules()
      .some((entry) => entry.from === from && entry.table === table && entry.priority === priority);
    return { isThere, rest: side.describeRest('rules') };
  },
  compare: ({ from, table }, { isThere, rest }) =>
    isThere ? undefined : { missing: `there is no rule from ${from} to table ${table}${rest}` },
});

const encodeRule = ({ from, table, priority }: IpRule) => ({
  from,
  table,
  priority,
  family: from.includes(':') ? (6 as const) : (4 as const),
});
