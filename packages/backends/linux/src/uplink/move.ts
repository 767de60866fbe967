/** One request for all of what moves: a process that dies leaves the old state or the new one, and packets find a way meanwhile. */
import { PodwireError } from '@podwire/errors';
import {
  deleteAddressRequest,
  describeFailure,
  type LinkName,
  listLinks,
  NetlinkBatchError,
  type NetlinkConnection,
  NetlinkError,
  type NetlinkFailure,
  type NetlinkRequest,
  readLink,
  repeatAddressRequests,
  repeatRouteRequest,
  repeatRuleRequest,
  setLinkRequest,
  type Transfer,
  withdrawRouteRequest,
  withdrawRuleRequest,
} from '@podwire/netlink';
import { compact } from '@podwire/platform';
import { uplinkAlias, uplinkOfAlias } from '../marks.js';
import { type LinkContents, readContents } from './contents.js';
import type { UplinkMoved } from './resources.js';

/** A request, and the answer by which the kernel says that there is nothing to do. */
interface Step {
  readonly request: NetlinkRequest;
  readonly done?: string;
}

export type UplinkEnds = Pick<UplinkMoved, 'from' | 'to'>;

/** Where the contents of a link come to, and where they go from. */
interface Ends {
  readonly onto: LinkName;
  readonly off: LinkName;
}

/**
 * Everything comes before anything goes: the kernel keeps the same address and the same route on two links, and uses those of the first
 * one while it has them. With its last IPv4 address a link would lose its routes, so they go before. Pure.
 * @param from link that the contents were read from
 */
export function planMove(contents: LinkContents, from: LinkName, { onto, off }: Ends): Step[] {
  const here: Transfer = { from, to: off };
  const there: Transfer = { from, to: onto };
  const { addresses, routes, rules } = contents;
  // A secondary address goes before its primary one, which would take it along; so does a temporary one of IPv6.
  const going = addresses.toReversed();
  return [
    ...addresses.flatMap(({ message }) =>
      repeatAddressRequests(message, there).map((request) => ({ request })),
    ),
    ...routes.map(({ message }) => ({ request: repeatRouteRequest(message, there), done: 'EEXIST' })),
    ...rules.map(({ message }) => ({ request: repeatRuleRequest(message, there), done: 'EEXIST' })),
    ...rules.map(({ message }) => ({ request: withdrawRuleRequest(message, here), done: 'ENOENT' })),
    ...routes.map(({ message }) => ({ request: withdrawRouteRequest(message, here), done: 'ESRCH' })),
    ...going.map(({ entry }) => ({
      // Without the label, which is another one on the other link.
      request: deleteAddressRequest(compact({ address: entry.address, peer: entry.peer, link: off.index })),
      done: 'EADDRNOTAVAIL',
    })),
  ];
}

/** The uplinks whose contents are on a bridge, by the marks of the bridges. */
export const listMoves = (route: NetlinkConnection): UplinkEnds[] =>
  listLinks(route).flatMap(({ name: to, alias }) => {
    const from = uplinkOfAlias(alias);
    return from === undefined ? [] : [{ from, to }];
  });

/**
 * Moves what is on the uplink to the bridge, or puts all of it back. What is there already stays: a move that
 * was cut short is finished. What an earlier move has put onto another bridge comes along, and the bridge first gives
 * back what it has of another uplink: a network may have another name or interface than when the agent last ran.
 * @throws PodwireError UPLINK_NOT_MOVED; NetlinkError ENODEV without the bridge
 */
export function moveThere(route: NetlinkConnection, { from, to }: UplinkEnds): void {
  const [source, target] = [readLink(route, from), readLink(route, to)];
  if (target === undefined) throw new NetlinkError('ENODEV', `there is no link ${to}`);
  undoOtherMoves(route, { from, to });
  const mark = markStep(target, uplinkAlias(from));
  if (source === undefined) carryOut(route, [mark]);
  else moveContents(route, { from: source, to: target, mark, markAgain: mark });
}

/**
 * Requests of their own, before the move: after each of them every address is on its uplink or on a bridge that is marked
 * with it. So a process that dies in between, or a kernel that refuses the next one, leaves what the next start moves as
 * usual. A single request would have to merge the contents of two links, and to part them again after a refusal.
 */
function undoOtherMoves(route: NetlinkConnection, { from, to }: UplinkEnds): void {
  for (const other of listMoves(route))
    // It shares one end with this move, and only one.
    if ((other.from === from) !== (other.to === to)) moveBack(route, other);
}

/**
 * The same back. An uplink that is gone is no obstacle: there is no place to move anything to, and one that comes back gets its
 * addresses from the program that configures the node. Nor is a bridge that is gone, with everything that was on it.
 * @throws PodwireError UPLINK_NOT_MOVED
 */
export function moveBack(route: NetlinkConnection, { from, to }: UplinkEnds): void {
  const [source, target] = [readLink(route, from), readLink(route, to)];
  // A bridge that has the role of another uplink has nothing of this one.
  if (target === undefined || (uplinkOfAlias(target.alias) ?? from) !== from) return;
  const mark = markStep(target, '');
  if (source === undefined) carryOut(route, [mark]);
  else
    moveContents(route, { from: target, to: source, mark, markAgain: markStep(target, uplinkAlias(from)) });
}

const markStep = ({ index }: LinkName, alias: string): Step => ({
  request: setLinkRequest(index, { alias }),
});

interface Move {
  readonly from: LinkName;
  readonly to: LinkName;
  readonly mark: Step;
  /** For when all was put back. A bridge with a mark and nothing else does no harm, one without a mark would. */
  readonly markAgain: Step;
}

function moveContents(route: NetlinkConnection, { from, to, mark, markAgain }: Move): void {
  const contents = readContents(route, from);
  requireMovable(contents, from, to);
  const failures = carryOut(route, [...planMove(contents, from, { onto: to, off: from }), mark]);
  if (failures.length === 0) return;
  const left = carryOut(route, [...planMove(contents, from, { onto: from, off: to }), markAgain]);
  const outcome = left.length === 0 ? 'all was put back' : `not all could be put back: ${inWords(left)}`;
  throw notMoved(from, to, `${inWords(failures)}; ${outcome}`);
}

/** The send buffer of a connection (32 MiB) takes so many, each of them twice. */
const MOST_ROUTES = 100_000;

function requireMovable({ routes }: LinkContents, from: LinkName, to: LinkName): void {
  const { length } = routes;
  if (length > MOST_ROUTES) {
    const reason = `${length} routes are more than can be moved at once (${MOST_ROUTES})`;
    throw notMoved(from, to, reason, 'Take an interface with fewer routes.');
  }
  const object = routes.find(({ entry }) => entry.nextHopId !== undefined)?.entry;
  if (object === undefined) return;
  const words = `the route to ${object.destination} has the next-hop object ${object.nextHopId}`;
  throw notMoved(from, to, `${words}, which other routes may share`, withoutObjects);
}

const withoutObjects =
  'Have the routing daemon add routes without next-hop objects (`ip nexthop`), or take an interface without such routes.';

const notMoved = (from: LinkName, to: LinkName, reason: string, action?: string): PodwireError =>
  new PodwireError(
    'UPLINK_NOT_MOVED',
    `what is on ${from.name} cannot be moved to ${to.name}: ${reason}`,
    action === undefined ? {} : { action },
  );

const inWords = (failures: readonly NetlinkFailure[]): string =>
  failures.map((failure) => describeFailure(failure)).join('; ');

/** @returns what the kernel has refused */
function carryOut(route: NetlinkConnection, steps: readonly Step[]): readonly NetlinkFailure[] {
  try {
    route.request(steps.map(({ request }) => request));
    return [];
  } catch (error) {
    if (!(error instanceof NetlinkBatchError)) throw error;
    return error.failures.filter(({ index, code }) => code !== steps[index]!.done);
  }
}
