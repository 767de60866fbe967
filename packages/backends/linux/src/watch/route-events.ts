/** Events of rtnetlink: links, addresses, routes, neighbours, qdiscs, rules, in the node and in pods. */
import {
  Attributes,
  decodeLink,
  decodeRoute,
  type Link,
  type NetlinkEvent,
  NLM_F_REPLACE,
  RT_TABLE_MAIN,
} from '@podwire/netlink';
import { isDeletedName, isMarkedForDeletion, LIVE_GROUP, ROUTE_PROTOCOL } from '../marks.js';
import type { Culprit, Disturbance } from './disturbance.js';

/** RTM_* (include/uapi/linux/rtnetlink.h). */
const RTM = {
  ...{ newLink: 16, deleteLink: 17, deleteAddress: 21, newRoute: 24, deleteRoute: 25 },
  ...{ newNeighbour: 28, deleteNeighbour: 29, deleteRule: 33, newQdisc: 36, deleteQdisc: 37 },
  ...{ newFilter: 44, deleteFilter: 45, newParameters: 80 },
} as const;

/** What is needed to say whose something is. */
export interface RouteContext {
  /** Of this program's connections, in the node and in pods. */
  readonly isOwnPort: (port: number) => boolean;
  /** Links of pods that this program has taken out of service, as `NAMESPACE/INDEX`; kept from one look to the next. */
  readonly outOfService: Set<string>;
  readonly culpritOf: (event: NetlinkEvent) => Culprit;
  /** Of the node's link with this index; undefined when there is none (any more). */
  readonly linkName: (index: number) => string | undefined;
  /** The node's link whose other end is in the namespace with this id. */
  readonly linkInto: (namespace: number) => string | undefined;
}

/** Links come in steps, of which only the last counts: the state that others have left it in. */
interface LastOfLink {
  readonly event: NetlinkEvent;
  /** Something other than this program has had a hand in it. */
  readonly byOthers: NetlinkEvent | undefined;
}

/**
 * What in these events is of interest. Most are caused by this program itself, and are passed over by their port. What
 * the kernel does by itself as a consequence has no port: of that, only what takes something away counts. Where that was
 * this program's own doing, the records have no owner for it by the time it is read.
 */
export function readRouteEvents(events: readonly NetlinkEvent[], context: RouteContext): Disturbance[] {
  const links = new Map<string, LastOfLink>();
  const others: NetlinkEvent[] = [];
  for (const event of events) {
    if (event.type === RTM.newLink || event.type === RTM.deleteLink) noteLink(links, event, context);
    else if (!context.isOwnPort(event.port)) others.push(event);
  }
  const found = others
    .filter((event) => !isOfDeleted(event, context.outOfService))
    .flatMap((event) => readOther(event, context));
  for (const { event, byOthers } of links.values())
    if (byOthers !== undefined) found.push(...readLink(event, context.culpritOf(byOthers), context));
  return found;
}

/** struct ifinfomsg: the index at 4. */
function noteLink(
  links: Map<string, LastOfLink>,
  event: NetlinkEvent,
  { isOwnPort, outOfService }: RouteContext,
): void {
  if (event.payload.length < 8) return;
  const key = `${event.namespace ?? ''}/${event.payload.readInt32LE(4)}`;
  if (event.namespace !== undefined) {
    // Numbers are used again: what has another name is another link.
    if (isDeletedName(decodeLink(event).name)) outOfService.add(key);
    else outOfService.delete(key);
  }
  const before = links.get(key);
  // A culprit with a name is worth more than the kernel.
  const isNamed = (before?.byOthers?.port ?? 0) !== 0;
  const byOthers = isOwnPort(event.port) || isNamed ? before?.byOthers : event;
  // Of a link that has gone, or whose namespace was left, the deletion is the last word.
  links.set(key, { event: before?.event.type === RTM.deleteLink ? before.event : event, byOthers });
}

/** Links that this program has taken out of service are deleted a moment later, with what was on them in a pod. */
function isOfDeleted({ namespace, type, payload }: NetlinkEvent, outOfService: Set<string>): boolean {
  if (namespace === undefined || payload.length < 8) return false;
  const isRoute = type === RTM.newRoute || type === RTM.deleteRoute;
  const index = isRoute ? new Attributes(payload, RTMSG).u32(RTA_OIF) : payload.readInt32LE(4);
  return outOfService.has(`${namespace}/${index}`);
}

const RTMSG = 12;
const RTA_OIF = 4;

function readLink(event: NetlinkEvent, by: Culprit, context: RouteContext): Disturbance[] {
  const link = decodeLink(event);
  if (event.namespace !== undefined) return isLost(event, link) ? inPod(event.namespace, by, context) : [];
  if (isMarkedForDeletion(link)) return [];
  if (event.type === RTM.deleteLink)
    return link.group === LIVE_GROUP ? [{ sort: 'link', link: link.name, by }] : [];
  return [{ sort: 'link', link: link.name, now: link, by }];
}

const isLost = ({ type }: NetlinkEvent, { up, name }: Link): boolean =>
  name !== 'lo' && !isDeletedName(name) && (type === RTM.deleteLink || !up);

function inPod(namespace: number, by: Culprit, { linkInto }: RouteContext): Disturbance[] {
  const link = linkInto(namespace);
  return link === undefined ? [] : [{ sort: 'in-pod', link, by }];
}

function readOther(event: NetlinkEvent, context: RouteContext): Disturbance[] {
  const by = (): Culprit => context.culpritOf(event);
  const { namespace, type } = event;
  if (type === RTM.newParameters) return isForwardingOff(event) ? [{ sort: 'forwarding', by: by() }] : [];
  if (type === RTM.newRoute || type === RTM.deleteRoute) return readRoute(event, by, context);
  if (!isLoss(event)) return [];
  if (namespace !== undefined) return inPod(namespace, by(), context);
  if (type === RTM.deleteRule) return [];
  const link = context.linkName(event.payload.readInt32LE(4));
  return link === undefined ? [] : [{ sort: 'on-link', link, by: by() }];
}

/**
 * ifaddrmsg, ndmsg and tcmsg have the index of the link at 4. Neighbours come and go by themselves on busy links, and
 * qdiscs with their links: only those that a program has touched count.
 */
function isLoss({ type, port, payload }: NetlinkEvent): boolean {
  if (payload.length < 8) return false;
  if (type === RTM.deleteAddress || type === RTM.deleteRule) return true;
  return port !== 0 && touched.has(type);
}

const touched: ReadonlySet<number> = new Set([
  ...[RTM.newNeighbour, RTM.deleteNeighbour, RTM.newQdisc, RTM.deleteQdisc],
  ...[RTM.newFilter, RTM.deleteFilter],
]);

/** Ours is gone, or another one has taken its place: the kernel has one of each destination, table and metric. */
function readRoute(event: NetlinkEvent, by: () => Culprit, context: RouteContext): Disturbance[] {
  const route = decodeRoute(event);
  if (route === undefined) return [];
  const isGone = event.type === RTM.deleteRoute && route.protocol === ROUTE_PROTOCOL;
  const isReplaced = event.type === RTM.newRoute && (event.flags & NLM_F_REPLACE) !== 0;
  if (!isGone && !isReplaced) return [];
  if (event.namespace !== undefined) return inPod(event.namespace, by(), context);
  if (isReplaced && route.table !== RT_TABLE_MAIN) return [];
  const link = route.link === undefined ? undefined : context.linkName(route.link);
  // IPv6 routes go with their link, which has events of its own; the address may be another pod's by now.
  if (event.port === 0 && link === undefined) return [];
  return [
    { sort: 'route', destination: route.destination, ...(link === undefined ? {} : { link }), by: by() },
  ];
}

/** NETCONFA_IFINDEX_ALL and NETCONFA_FORWARDING; struct netconfmsg is a byte, padded to four. */
const ALL_LINKS = -1;
const FORWARDING = 2;
const INDEX = 1;
const NETCONFMSG = 4;

function isForwardingOff({ namespace, payload }: NetlinkEvent): boolean {
  if (namespace !== undefined) return false;
  let [index, forwarding] = [0, -1];
  for (let at = NETCONFMSG; at + 8 <= payload.length; at += (payload.readUInt16LE(at) + 3) & ~3) {
    const [length, type] = [payload.readUInt16LE(at), payload.readUInt16LE(at + 2)];
    if (length < 4) return false;
    if (type === INDEX) index = payload.readInt32LE(at + 4);
    if (type === FORWARDING) forwarding = payload.readInt32LE(at + 4);
  }
  return index === ALL_LINKS && forwarding === 0;
}
