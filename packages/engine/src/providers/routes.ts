import { hasCode } from '@podwire/linux';
import {
  addRoute,
  deleteRoute,
  type Link,
  type NetlinkRequest,
  type NewRoute,
  replaceRoute,
  type Route,
  RT_TABLE_MAIN,
} from '@podwire/netlink';
import type { View } from '../observe.js';
import type { Session } from '../session.js';
import type { Failure } from '../failure.js';
import { ROUTE_PROTOCOL } from '../marks.js';
import type { IpRoute } from '../resource.js';
import type { Provider } from './provider.js';

/** What the kernel makes of an IPv6 route without a metric (IP6_RT_PRIO_USER). */
const IPV6_DEFAULT_METRIC = 1024;

export const route: Provider<IpRoute> = {
  create: (resource, session) => [addRoute(encode(resource, session))],
  replace: (resource, session) => [replaceRoute(encode(resource, session))],
  // With everything that was given, so that a foreign route to the same destination is never meant.
  remove: (resource, session) => [deleteRoute(encode(resource, session))],
  compare: (resource, view) => {
    const side = view.side(resource.in);
    const link = resource.link === undefined ? undefined : side.link(resource.link);
    const candidates = side
      .routesTo(resource.destination, link, wantedTable(resource))
      .filter((found) => isSameRoute(resource, found));
    const [first] = candidates;
    if (first === undefined) return { missing: `there is no route to ${resource.destination}` };
    if (candidates.some((found) => agrees(resource, found, view))) return undefined;
    const words = `the route to ${resource.destination} is ${describe(first)}`;
    const isForeign = resource.in === 'pod' && candidates.every((found) => leadsElsewhere(found, link));
    return isForeign ? { foreign: words } : words;
  },
};

/** Takes away what stands in the place of the route, whatever it leads to. */
export const encodeClearance = (resource: IpRoute): NetlinkRequest =>
  deleteRoute({
    destination: resource.destination,
    table: wantedTable(resource),
    metric: wantedMetric(resource),
  });

/**
 * The kernel looks for an IPv6 gateway by the very route that it is to replace (`ip6_route_check_nh` and its like for `onlink`).
 * A gateway that lies inside the destination, as peers' tunnel ends do, is found behind the old link then: EINVAL.
 */
export const isMisledByOld = ({ resource, error }: Failure): boolean =>
  resource.kind === 'route' && resource.gateway?.includes(':') === true && hasCode(error, 'EINVAL');

function encode(resource: IpRoute, session: Session): NewRoute {
  const { in: side, link, kind: _, ...rest } = resource;
  const index = link === undefined ? {} : { link: session.indexOf(side, link) };
  return { ...rest, ...index, protocol: ROUTE_PROTOCOL };
}

const metricOf = (found: Route): number => found.metric ?? 0;

const wantedTable = ({ table }: IpRoute): number => table ?? RT_TABLE_MAIN;

/** Whether the found one stands where the wanted one belongs: the kernel has one of each table and metric, whatever it leads to. */
export const isSameRoute = (wanted: IpRoute, found: Route): boolean =>
  found.destination === wanted.destination &&
  found.table === wantedTable(wanted) &&
  metricOf(found) === wantedMetric(wanted);

function wantedMetric({ metric, destination }: IpRoute): number {
  return metric ?? (destination.includes(':') ? IPV6_DEFAULT_METRIC : 0);
}

function agrees(resource: IpRoute, found: Route, view: View): boolean {
  const link = resource.link === undefined ? undefined : view.side(resource.in).link(resource.link)?.index;
  // A blackhole in IPv6 hangs on the loopback although nobody asked for it.
  const sameLink = resource.type === 'blackhole' || found.link === link;
  return (
    found.type === (resource.type ?? 'unicast') &&
    sameLink &&
    found.gateway === resource.gateway &&
    (found.onlink ?? false) === (resource.onlink ?? false)
  );
}

/**
 * A pod may lead its traffic through another link of its own: a VPN does, and Multus where it is asked for another default route.
 * A route that leads nowhere (`unreachable`), or through the link that ADD made, only cuts the pod off.
 */
function leadsElsewhere({ type, link, nextHops }: Route, own: Link | undefined): boolean {
  if (type !== 'unicast') return false;
  const links = nextHops?.map((hop) => hop.link) ?? [link];
  return !links.includes(own?.index);
}

function describe(found: Route): string {
  const via = found.gateway === undefined ? '' : ` via ${found.gateway}`;
  const link = found.link === undefined ? '' : ` through link ${found.link}`;
  const onlink = found.onlink === true ? ' onlink' : '';
  return `${found.type}${via}${link}${onlink} (protocol ${found.protocol})`;
}
