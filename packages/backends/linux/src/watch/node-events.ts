/** Events of rtnetlink on the node, as hints: what they name is what resources name as well. */
import type { Hint } from '@podwire/engine';
import {
  decodeAddress,
  decodeForwardingEntry,
  decodeLink,
  decodeNeighbour,
  decodeRoute,
  decodeRule,
  type Link,
  type NetlinkEvent,
  RT_TABLE_LOCAL,
} from '@podwire/netlink';
import { addressesKey, entryKey, linkKey } from '../keys.js';
import { ADDRESS_LABEL, isMarkedForDeletion, LIVE_GROUP, ROUTE_PROTOCOL } from '../marks.js';
import { onLink } from '../rtnetlink/kind.js';
import { identifyRoute, identifyRule } from '../rtnetlink/routes.js';
import type { Shown, ShownState } from '../rtnetlink/shown.js';
import { type LinkNow, readParameters } from './parameter-events.js';
import { AF_BRIDGE, LINK_INDEX, RTM, SHORTEST } from './rtm.js';

export interface NodeContext {
  /** Of this program's connections. */
  readonly isOwnPort: (port: number) => boolean;
  /** In words. */
  readonly culpritOf: (port: number) => string | undefined;
  /** The node's link with this index; undefined when there is none (any more), or it waits for deletion. */
  readonly linkOf: (index: number) => LinkNow | undefined;
}

/** A thing, as one event left it. */
interface State {
  readonly keys: readonly string[];
  readonly shown?: ShownState;
  readonly marked?: boolean;
  /** Later events change nothing any more: of a link that has gone, its namespace may still tell something. */
  readonly isLast?: boolean;
}

/** Things come in steps, of which the last counts: the state that they were left in. */
interface Touched {
  readonly state: State;
  /** Port of what has had a hand in it besides this program; a program is worth more than the kernel (0). */
  readonly byOthers: number | undefined;
}

/**
 * Most events are caused by this program itself, and are passed over by their port. What the kernel does by itself as a
 * consequence has no port, nor have forwarding entries: there, the state decides that a thing was left in.
 */
export function readNodeEvents(events: readonly NetlinkEvent[], context: NodeContext): Hint[] {
  const things = new Map<string, Touched>();
  for (const event of events) {
    const isOwn = context.isOwnPort(event.port);
    for (const [id, state] of statesOf(event, isOwn, context)) {
      const before = things.get(id);
      const isNamed = (before?.byOthers ?? 0) !== 0;
      const byOthers = isOwn || isNamed ? before?.byOthers : event.port;
      things.set(id, { state: before?.state.isLast === true ? before.state : state, byOthers });
    }
  }
  const nameOf = (index: number): string | undefined => context.linkOf(index)?.link.name;
  return [...things.values()].flatMap(({ state, byOthers }) =>
    byOthers === undefined || state.keys.length === 0 ? [] : [toHint(state, byOthers, nameOf, context)],
  );
}

function toHint(
  { keys, shown, marked = false }: State,
  port: number,
  nameOf: Shown['nameOf'],
  { culpritOf }: NodeContext,
): Hint {
  const by = culpritOf(port);
  return {
    keys,
    ...(shown === undefined ? {} : { now: { state: shown, nameOf } satisfies Shown }),
    ...(marked ? { marked } : {}),
    ...(by === undefined ? {} : { by }),
  };
}

/** By what tells things apart. Of what this program does, only what others may have changed in the same moment counts. */
function statesOf(event: NetlinkEvent, isOwn: boolean, context: NodeContext): readonly [string, State][] {
  const { type, payload } = event;
  if (payload.length < SHORTEST) return [];
  if (type === RTM.newLink || type === RTM.deleteLink)
    return payload[0] === AF_BRIDGE ? [] : [readLink(event)];
  if (type === RTM.newRoute || type === RTM.deleteRoute) return byKey(readRoute(event));
  if (isOwn) return [];
  if (type === RTM.newParameters) return readParameters(payload, context.linkOf).map(toSysctl);
  if (type === RTM.deleteRule) return byKey(readRule(event));
  const now = context.linkOf(payload.readInt32LE(LINK_INDEX));
  return now === undefined ? [] : byKey(readOnLink(event, now.link));
}

const byKey = (state: State | undefined): [string, State][] =>
  state === undefined ? [] : [[state.keys[0]!, state]];

const toSysctl = ([key, value]: readonly [string, string]): [string, State] => {
  const id = entryKey('sysctl', 'host', key);
  return [id, { keys: [id], shown: { is: 'sysctl', value } }];
};

/** By its index: what has another name now is still the same link. */
function readLink(event: NetlinkEvent): [string, State] {
  const link = decodeLink(event);
  const isGone = event.type === RTM.deleteLink;
  const id = `link ${link.index}`;
  if (isMarkedForDeletion(link)) return [id, { keys: [], isLast: isGone }];
  const keys = [linkKey('host', link.name)];
  if (isGone) return [id, { keys, isLast: true }];
  // One of ours with a name that no owner wants was renamed.
  return [id, { keys, shown: { is: 'link', link }, marked: link.group === LIVE_GROUP }];
}

/** The kernel has one route of each destination, table and metric: another one may have taken the place of ours. */
function readRoute(event: NetlinkEvent): State | undefined {
  // Its local table changes with each address, and nothing of ours is in it.
  if (event.payload[4] === RT_TABLE_LOCAL) return undefined;
  const entry = decodeRoute(event);
  if (entry === undefined) return undefined;
  const { destination, table, metric = 0, protocol } = entry;
  const keys = [entryKey('route', 'host', identifyRoute(destination, table, metric))];
  if (event.type === RTM.deleteRoute) return { keys };
  return { keys, shown: { is: 'route', entry }, marked: protocol === ROUTE_PROTOCOL };
}

function readRule(event: NetlinkEvent): State | undefined {
  const rule = decodeRule(event);
  const { from, table, priority } = rule ?? {};
  if (from === undefined || table === undefined || priority === undefined) return undefined;
  return { keys: [entryKey('rule', 'host', identifyRule({ from, table, priority }))] };
}

function readOnLink(event: NetlinkEvent, link: Link): State | undefined {
  switch (event.type) {
    case RTM.newAddress:
    case RTM.deleteAddress:
      return readAddress(event, link);
    case RTM.newNeighbour:
    case RTM.deleteNeighbour:
      return event.payload[0] === AF_BRIDGE ? readForwarding(event, link) : readNeighbour(event, link);
    case RTM.newQdisc:
    case RTM.deleteQdisc:
    case RTM.newFilter:
    case RTM.deleteFilter:
      return readTrafficControl(event, link);
    default:
      return undefined;
  }
}

/** Everything on it is ours. */
const isOurTunnel = ({ kind, group }: Link): boolean => kind === 'vxlan' && group === LIVE_GROUP;

function readAddress(event: NetlinkEvent, link: Link): State {
  const entry = decodeAddress(event);
  const keys = [
    entryKey('address', 'host', onLink(link.name, entry?.address ?? '')),
    addressesKey(link.name),
  ];
  if (entry === undefined || event.type === RTM.deleteAddress) return { keys };
  const marked = isOurTunnel(link) || entry.label === ADDRESS_LABEL;
  return { keys, shown: { is: 'address', entry }, marked };
}

/** They come and go by themselves on busy links: only those that a program has touched count. */
function readNeighbour(event: NetlinkEvent, link: Link): State | undefined {
  const entry = event.port === 0 ? undefined : decodeNeighbour(event);
  if (entry === undefined) return undefined;
  const keys = [entryKey('neighbour', 'host', onLink(link.name, entry.address))];
  if (event.type === RTM.deleteNeighbour) return { keys };
  const marked = isOurTunnel(link) && entry.state === 'permanent';
  return { keys, shown: { is: 'neighbour', entry }, marked };
}

/** Events of these never name a program, this one included. */
function readForwarding(event: NetlinkEvent, link: Link): State | undefined {
  const entry = isOurTunnel(link) ? decodeForwardingEntry(event) : undefined;
  if (entry?.table !== 'self') return undefined;
  const keys = [entryKey('forwarding-entry', 'host', onLink(link.name, entry.mac))];
  if (event.type === RTM.deleteNeighbour) return { keys };
  return { keys, shown: { is: 'forwarding-entry', entry }, marked: true };
}

/** Qdiscs come and go by themselves with their links. */
function readTrafficControl({ port }: NetlinkEvent, { name }: Link): State | undefined {
  if (port === 0) return undefined;
  return { keys: ['token-bucket', 'ingress-redirect'].map((kind) => entryKey(kind, 'host', name)) };
}
