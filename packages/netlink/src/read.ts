/** Requests about one thing that are sent at once, and their answers decoded. */
import { hasCode } from '@podwire/linux';
import type { NetlinkConnection, NetlinkMessage, NetlinkRequest } from './connection.js';
import { DecodeError, NetlinkError } from './errors.js';
import {
  decodeLink,
  decodeLinkInDetail,
  getLinkRequest,
  type Link,
  type LinkDetail,
  type LinkReference,
} from './link.js';
import { createLinkRequest, type NewLink } from './link-requests.js';
import { decodeNeighbour, getNeighbourRequest, type Neighbour, type NewNeighbour } from './neighbour.js';
import { decodeQdisc, getQdiscRequest, type Qdisc, type QdiscPlace } from './qdisc.js';
import { decodeRoute, type Route } from './route-decoder.js';
import { lookUpRouteRequest, type RouteQuery } from './route.js';

/** A link by name or index; `undefined` when there is none. @throws NetlinkBatchError, DecodeError */
export function readLink(
  connection: NetlinkConnection,
  reference: LinkReference,
  detail: LinkDetail = {},
): Link | undefined {
  const reply = askOrAbsent(connection, getLinkRequest(reference, detail));
  return reply === undefined ? undefined : decodeLinkInDetail(reply, detail);
}

/** The neighbour with an address; `undefined` when link or entry are not there. @throws NetlinkBatchError, DecodeError */
export function readNeighbour(
  connection: NetlinkConnection,
  neighbour: Pick<NewNeighbour, 'link' | 'address'>,
): Neighbour | undefined {
  const reply = askOrAbsent(connection, getNeighbourRequest(neighbour));
  return reply === undefined ? undefined : decodeNeighbour(reply);
}

/** The qdisc at a place; `undefined` when link or qdisc are not there. @throws NetlinkBatchError, DecodeError */
export function readQdisc(connection: NetlinkConnection, place: QdiscPlace): Qdisc | undefined {
  const reply = askOrAbsent(connection, getQdiscRequest(place));
  return reply === undefined ? undefined : decodeQdisc(reply);
}

/** The route that a packet to `destination` would take. @throws NetlinkBatchError `ENETUNREACH` when there is none */
export function lookUpRoute(
  connection: NetlinkConnection,
  destination: string,
  query: RouteQuery = {},
): Route {
  const [reply] = connection.request([lookUpRouteRequest(destination, query)]).flat();
  const route = reply === undefined ? undefined : decodeRoute(reply);
  if (route === undefined) throw new DecodeError(`look up route ${destination}: the answer is no route`);
  return route;
}

/**
 * Makes a link and returns it. To make several in one system call, send requests of {@link createLinkRequest}.
 * @throws NetlinkBatchError `EEXIST` when the name or the index is taken
 */
export function createLink(connection: NetlinkConnection, link: NewLink): Link {
  const [reply] = connection.request([createLinkRequest(link, { echo: true })]).flat();
  if (reply !== undefined) return decodeLink(reply);
  // Kernels before 6.2 send no reply, and none does for a link that is born in another namespace.
  const reference = link.namespace === undefined ? (link.index ?? link.name) : undefined;
  const found = reference === undefined ? undefined : readLink(connection, reference);
  if (found !== undefined) return found;
  throw new NetlinkError('ENODEV', `create link ${link.name ?? link.kind}: it was made, but not found again`);
}

function askOrAbsent(connection: NetlinkConnection, request: NetlinkRequest): NetlinkMessage | undefined {
  try {
    return connection.request([request]).flat()[0];
  } catch (error) {
    if (hasCode(error, 'ENODEV', 'ENOENT')) return undefined;
    throw error;
  }
}
