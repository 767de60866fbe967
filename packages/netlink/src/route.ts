import { addressBits, addressToBytes, parseAddress, parsePrefix } from '@podwire/addresses';
import type { NetlinkConnection, NetlinkMessage, NetlinkRequest } from './connection.js';
import { type DumpLimit, dumpUnless } from './dump.js';
import { encodeIp, type Family, familyNumber } from './ip-address.js';
import { PayloadWriter } from './payload.js';
import { NLM_F_APPEND, NLM_F_CREATE, NLM_F_EXCL, NLM_F_REPLACE } from './protocol.js';
import * as rt from './route-attributes.js';
import { decodeRoute, type Route } from './route-decoder.js';
import { type Scope, scopeNumber } from './scope.js';

/** One next hop of several for the same destination. */
export interface NewNextHop {
  readonly link?: number;
  /** Of either family: an IPv4 route may go through an IPv6 gateway (RTA_VIA). */
  readonly gateway?: string;
  /** The gateway is on the link although no route says so. */
  readonly onlink?: boolean;
  /** 1 (the default) to 256: share of the traffic. */
  readonly weight?: number;
}

export interface NewRoute extends NewNextHop {
  /** ADDRESS/LENGTH without bits beyond the length; `0.0.0.0/0` and `::/0` are the default routes. */
  readonly destination: string;
  readonly type?: rt.RouteType;
  /** For IPv4; by default `link` without a gateway, otherwise `global`, as ip-route(8) has it. */
  readonly scope?: Scope;
  /** Address that the node itself uses as source. */
  readonly preferredSource?: string;
  /** Lower wins; IPv6 makes 1024 of 0. */
  readonly metric?: number;
  /** The main table (254) when absent. */
  readonly table?: number;
  /** Origin of the route (RTPROT_*); `static` when absent. */
  readonly protocol?: number;
  /** bytes; where the path carries less than the link. */
  readonly mtu?: number;
  /** Several ways; `link`, `gateway` and `onlink` of the route itself must then be absent. */
  readonly nextHops?: readonly NewNextHop[];
}

/** Adds a route. EEXIST when the table has one for this destination and metric; ENETUNREACH for an unreachable gateway. */
export function addRouteRequest(route: NewRoute): NetlinkRequest {
  return newRoute(route, NLM_F_CREATE | NLM_F_EXCL, 'add');
}

/** Adds a route in the place of the one with the same destination and metric, if there is one. */
export function replaceRouteRequest(route: NewRoute): NetlinkRequest {
  return newRoute(route, NLM_F_CREATE | NLM_F_REPLACE, 'replace');
}

/** Adds a route after others for the same destination; for IPv6 that makes a multipath route of them. */
export function appendRouteRequest(route: NewRoute): NetlinkRequest {
  return newRoute(route, NLM_F_CREATE | NLM_F_APPEND, 'append');
}

function newRoute(route: NewRoute, flags: number, verb: string): NetlinkRequest {
  const type = route.type ?? 'unicast';
  const protocol = route.protocol ?? rt.RTPROT_STATIC;
  const payload = encodeRoute(route, { type, protocol, scope: route.scope ?? defaultScope(route, type) });
  return { type: rt.RTM_NEWROUTE, flags, payload, label: `${verb} route ${route.destination}` };
}

function defaultScope(route: NewRoute, type: rt.RouteType): Scope {
  if (type === 'local' || type === 'nat') return 'host';
  if (type === 'broadcast' || type === 'multicast' || type === 'anycast') return 'link';
  const direct = route.gateway === undefined && route.nextHops === undefined;
  return type === 'unicast' && direct ? 'link' : 'global';
}

/**
 * Deletes the first route that has everything that is given; what is absent matches any. ESRCH when there is none.
 * (The table is never a wildcard: the main one when absent.)
 */
export function deleteRouteRequest(route: NewRoute): NetlinkRequest {
  const { type = 'unspecified', protocol = rt.RTPROT_UNSPEC, scope = 'nowhere' } = route;
  const payload = encodeRoute(route, { type, protocol, scope });
  return { type: rt.RTM_DELROUTE, flags: 0, payload, label: `delete route ${route.destination}` };
}

interface RouteHeader {
  readonly type: rt.RouteType;
  readonly protocol: number;
  readonly scope: Scope;
}

function encodeRoute(route: NewRoute, header: RouteHeader): Buffer {
  const { family, length, address } = parsePrefix(route.destination);
  const writer = new PayloadWriter(rt.RTMSG);
  writeHeader(writer, familyNumber(family), length, route, header);
  if (length > 0) writer.bytes(rt.RTA_DST, addressToBytes(address));
  if (route.table !== undefined) writer.u32(rt.RTA_TABLE, route.table);
  if (route.link !== undefined) writer.u32(rt.RTA_OIF, route.link);
  if (route.gateway !== undefined) writeGateway(writer, family, route.gateway);
  if (route.preferredSource !== undefined) writer.bytes(rt.RTA_PREFSRC, encodeIp(route.preferredSource));
  if (route.metric !== undefined) writer.u32(rt.RTA_PRIORITY, route.metric);
  if (route.mtu !== undefined) writeMtu(writer, route.mtu);
  if (route.nextHops !== undefined) writer.bytes(rt.RTA_MULTIPATH, encodeNextHops(family, route.nextHops));
  return writer.finish();
}

function writeHeader(
  writer: PayloadWriter,
  family: number,
  length: number,
  route: NewRoute,
  { type, protocol, scope }: RouteHeader,
): void {
  const header = writer.at(0, rt.RTMSG);
  const table = route.table ?? rt.RT_TABLE_MAIN;
  header[0] = family;
  header[1] = length;
  // Tables above 255 stand in RTA_TABLE only; 0 says so.
  header[4] = table > 255 ? 0 : table;
  header.writeUInt8(protocol, 5);
  header[6] = scopeNumber(scope);
  header[7] = rt.routeTypes.indexOf(type);
  header.writeUInt32LE(route.onlink === true ? rt.RTNH_F_ONLINK : 0, 8);
}

function writeMtu(writer: PayloadWriter, mtu: number): void {
  writer.nest(rt.RTA_METRICS, () => writer.u32(rt.RTAX_MTU, mtu));
}

function writeGateway(writer: PayloadWriter, family: Family, text: string): void {
  const gateway = parseAddress(text);
  const bytes = addressToBytes(gateway);
  if (gateway.family === family) return void writer.bytes(rt.RTA_GATEWAY, bytes);
  // struct rtvia: family (u16), address.
  const via = Buffer.alloc(2 + bytes.length);
  via.writeUInt16LE(familyNumber(gateway.family), 0);
  via.set(bytes, 2);
  writer.bytes(rt.RTA_VIA, via);
}

/** RTA_MULTIPATH holds no attributes but a row of struct rtnexthop, each with attributes of its own. */
function encodeNextHops(family: Family, hops: readonly NewNextHop[]): Buffer {
  return Buffer.concat(hops.map((hop) => encodeNextHop(family, hop)));
}

const RTNEXTHOP = 8;

function encodeNextHop(family: Family, { link, gateway, onlink, weight = 1 }: NewNextHop): Buffer {
  const writer = new PayloadWriter(RTNEXTHOP);
  if (gateway !== undefined) writeGateway(writer, family, gateway);
  const header = writer.at(0, RTNEXTHOP);
  header.writeUInt16LE(writer.length, 0);
  header[2] = onlink === true ? rt.RTNH_F_ONLINK : 0;
  header.writeUInt8(weight - 1, 3);
  header.writeInt32LE(link ?? 0, 4);
  return writer.finish();
}

export interface RouteFilter extends DumpLimit {
  readonly family?: Family;
  /** Any table when absent. */
  readonly table?: number;
  /** Index of the outgoing link. */
  readonly link?: number;
  readonly protocol?: number;
  readonly type?: rt.RouteType;
}

/** The routes of the namespace, filtered by the kernel (strict checking). A table that does not exist is empty. */
export function listRoutes(connection: NetlinkConnection, filter: RouteFilter = {}): Route[] {
  return familiesOf(filter).flatMap((family) =>
    dumpRoutes(connection, family, filter)
      .map(decodeRoute)
      .filter((route) => route !== undefined)
      .filter((route) => route.family === family && matches(route, filter)),
  );
}

/** The same as the kernel wrote them, for {@link repeatRouteRequest}. Others may be among them. */
export const listRouteMessages = (
  connection: NetlinkConnection,
  filter: RouteFilter = {},
): NetlinkMessage[] => familiesOf(filter).flatMap((family) => dumpRoutes(connection, family, filter));

const familiesOf = ({ family }: { readonly family?: Family }): readonly Family[] =>
  family === undefined ? [4, 6] : [family];

function dumpRoutes(connection: NetlinkConnection, family: Family, filter: RouteFilter): NetlinkMessage[] {
  const { table, link, protocol, type } = filter;
  const writer = new PayloadWriter(rt.RTMSG);
  const header = writer.at(0, rt.RTMSG);
  header[0] = familyNumber(family);
  header[5] = protocol ?? rt.RTPROT_UNSPEC;
  header[7] = type === undefined ? 0 : rt.routeTypes.indexOf(type);
  if (table !== undefined) writer.u32(rt.RTA_TABLE, table);
  if (link !== undefined) writer.u32(rt.RTA_OIF, link);
  const request = { type: rt.RTM_GETROUTE, flags: 0, payload: writer.finish(), label: 'list routes' };
  return dumpUnless(connection, request, ['ENOENT', 'ENODEV'], filter.limit);
}

function matches(route: Route, { table, link, protocol, type }: RouteFilter): boolean {
  const links = route.nextHops?.map((hop) => hop.link) ?? [route.link];
  return (
    (table === undefined || route.table === table) &&
    (link === undefined || links.includes(link)) &&
    (protocol === undefined || route.protocol === protocol) &&
    (type === undefined || route.type === type)
  );
}

/** Further facts about the packet. */
export interface RouteQuery {
  readonly source?: string;
  readonly mark?: number;
}

/** Asks which route a packet to `destination` would take; the reply decodes with {@link decodeRoute}. */
export function lookUpRouteRequest(destination: string, options: RouteQuery = {}): NetlinkRequest {
  const { family } = parseAddress(destination);
  const writer = new PayloadWriter(rt.RTMSG);
  const header = writer.at(0, rt.RTMSG);
  header[0] = familyNumber(family);
  header[1] = addressBits(family);
  header[2] = options.source === undefined ? 0 : addressBits(family);
  header.writeUInt32LE(rt.RTM_F_LOOKUP_TABLE, 8);
  writer.bytes(rt.RTA_DST, encodeIp(destination));
  if (options.source !== undefined) writer.bytes(rt.RTA_SRC, encodeIp(options.source));
  if (options.mark !== undefined) writer.u32(rt.RTA_MARK, options.mark);
  return { type: rt.RTM_GETROUTE, flags: 0, payload: writer.finish(), label: `look up route ${destination}` };
}
