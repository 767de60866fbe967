/** Events of rtnetlink in namespaces of pods, as hints. They name the namespace: a look at the pod finds out the rest. */
import type { Hint } from '@podwire/engine';
import { Attributes, decodeLink, decodeRoute, type NetlinkEvent, NLM_F_REPLACE } from '@podwire/netlink';
import { behindKey } from '../keys.js';
import { isDeletedName, ROUTE_PROTOCOL } from '../marks.js';
import { AF_BRIDGE, LINK_INDEX, RTM, SHORTEST } from './rtm.js';

export interface PodContext {
  /** Of this program's connections. */
  readonly isOwnPort: (port: number) => boolean;
  /** Links of pods that this program has taken out of service, as `NAMESPACE/INDEX`; kept from one call to the next. */
  readonly outOfService: Set<string>;
  /** The node's links whose other ends are in the namespace with this id. */
  readonly linksInto: (namespace: number) => readonly string[];
}

/**
 * One hint for each namespace. Of what the kernel does by itself only losses count; where they follow from what this
 * program did, no owner is left by the time that the hint is read.
 */
export function readPodEvents(events: readonly NetlinkEvent[], context: PodContext): Hint[] {
  const links = new Map<string, LastOfLink>();
  // A namespace in which much happens costs no more than its first loss.
  const touched = new Map<number, number>();
  const inPods = events.filter(
    ({ namespace, payload }) => namespace !== undefined && payload.length >= SHORTEST,
  );
  for (const event of inPods) if (isOfLink(event)) noteLink(links, event, context);
  // After all links: one that this program takes out of service loses what was on it first, and its name then.
  for (const event of inPods)
    if (!touched.has(event.namespace!) && !isLinkType(event) && isLoss(event, context))
      touched.set(event.namespace!, event.port);
  for (const { event, byOthers } of links.values())
    if (byOthers !== undefined && isLinkLost(event)) touched.set(event.namespace!, byOthers);
  return [...touched].flatMap(([namespace, port]) =>
    context.linksInto(namespace).map((link) => ({
      keys: [behindKey(link)],
      // The number is that of a process in the pod, or in none.
      ...(port === 0 ? {} : { by: `port ${port}` }),
    })),
  );
}

const isLinkType = ({ type }: NetlinkEvent): boolean => type === RTM.newLink || type === RTM.deleteLink;

/** Bridges send messages about links, too. */
const isOfLink = (event: NetlinkEvent): boolean => isLinkType(event) && event.payload[0] !== AF_BRIDGE;

/** Links come in steps, of which only the last counts. */
interface LastOfLink {
  readonly event: NetlinkEvent;
  readonly byOthers: number | undefined;
}

function noteLink(
  links: Map<string, LastOfLink>,
  event: NetlinkEvent,
  { isOwnPort, outOfService }: PodContext,
): void {
  const key = placeOf(event, event.payload.readInt32LE(LINK_INDEX));
  // Numbers are used again: what has another name is another link.
  if (isDeletedName(decodeLink(event).name)) outOfService.add(key);
  else outOfService.delete(key);
  const before = links.get(key);
  const byOthers = isOwnPort(event.port) ? before?.byOthers : Math.max(before?.byOthers ?? 0, event.port);
  // Of a link that has gone, or whose namespace was left, the deletion is the last word.
  links.set(key, { event: before?.event.type === RTM.deleteLink ? before.event : event, byOthers });
}

const placeOf = ({ namespace }: NetlinkEvent, index: number | undefined): string => `${namespace}/${index}`;

function isLinkLost(event: NetlinkEvent): boolean {
  const { name, up } = decodeLink(event);
  return name !== 'lo' && !isDeletedName(name) && (event.type === RTM.deleteLink || !up);
}

/** Something has gone, or something else has taken its place. */
function isLoss(event: NetlinkEvent, { isOwnPort, outOfService }: PodContext): boolean {
  const { type, port, payload } = event;
  if (isOwnPort(port)) return false;
  const isRoute = type === RTM.newRoute || type === RTM.deleteRoute;
  if (isRoute ? !isRouteLost(event) : !isEntryLost(event)) return false;
  const index = isRoute ? new Attributes(payload, RTMSG).u32(RTA_OIF) : payload.readInt32LE(LINK_INDEX);
  // Links that this program has taken out of service go with all that was on them.
  return !outOfService.has(placeOf(event, index));
}

const RTMSG = 12;
const RTA_OIF = 4;

function isRouteLost(event: NetlinkEvent): boolean {
  if (event.type === RTM.newRoute) return (event.flags & NLM_F_REPLACE) !== 0;
  return decodeRoute(event)?.protocol === ROUTE_PROTOCOL;
}

/** Neighbours come and go by themselves, and qdiscs with their links: only those that a program has touched count. */
function isEntryLost({ type, port }: NetlinkEvent): boolean {
  if (type === RTM.deleteAddress || type === RTM.deleteRule) return true;
  return port !== 0 && touching.has(type);
}

const touching: ReadonlySet<number> = new Set([
  ...[RTM.newNeighbour, RTM.deleteNeighbour, RTM.newQdisc, RTM.deleteQdisc],
  ...[RTM.newFilter, RTM.deleteFilter],
]);
