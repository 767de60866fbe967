import {
  addRoute,
  deleteRoute,
  type NewRoute,
  replaceRoute,
  type Route,
  RT_TABLE_MAIN,
} from '@podwire/netlink';
import type { View } from '../observe.js';
import type { Session } from '../session.js';
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
      .routesTo(resource.destination, link)
      .filter((found) => isSameRoute(resource, found));
    const [first] = candidates;
    if (first === undefined) return { missing: `there is no route to ${resource.destination}` };
    if (candidates.some((found) => agrees(resource, found, view))) return undefined;
    return `the route to ${resource.destination} is ${describe(first)}`;
  },
};

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

function describe(found: Route): string {
  const via = found.gateway === undefined ? '' : ` via ${found.gateway}`;
  const link = found.link === undefined ? '' : ` through link ${found.link}`;
  const onlink = found.onlink === true ? ' onlink' : '';
  return `${found.type}${via}${link}${onlink} (protocol ${found.protocol})`;
}
