import { addressBits } from '@podwire/addresses';
import { compact } from '@podwire/platform';
import { Attributes, readStructure } from './attributes.js';
import type { NetlinkMessage } from './connection.js';
import { DecodeError } from './errors.js';
import { decodeIp, type Family, familyOf } from './ip-address.js';
import { align } from './protocol.js';
import * as rt from './route-attributes.js';
import { type Scope, scopeName } from './scope.js';

export interface NextHop {
  readonly link?: number;
  readonly gateway?: string;
  readonly onlink?: boolean;
  /** The link is down or has no carrier, so this next hop is not used. */
  readonly dead?: boolean;
  readonly weight: number;
}

export interface Route {
  readonly family: Family;
  /** ADDRESS/LENGTH */
  readonly destination: string;
  readonly type: rt.RouteType | number;
  readonly table: number;
  /** RTPROT_* */
  readonly protocol: number;
  readonly scope: Scope;
  readonly link?: number;
  /** Of either family. */
  readonly gateway?: string;
  readonly onlink?: boolean;
  readonly dead?: boolean;
  /** IPv6 routes that depend on the source (ADDRESS/LENGTH). */
  readonly source?: string;
  readonly preferredSource?: string;
  readonly metric?: number;
  /** bytes */
  readonly mtu?: number;
  readonly typeOfService?: number;
  /** Id of a next-hop object (`ip nexthop`). */
  readonly nextHopId?: number;
  /** The ways of a multipath route; then `link` and `gateway` are absent. */
  readonly nextHops?: readonly NextHop[];
}

/** Decodes an RTM_NEWROUTE message; `undefined` for one of another family than IP. @throws DecodeError */
export function decodeRoute(message: NetlinkMessage): Route | undefined {
  const bytes = readStructure(message.payload, rt.RTMSG, 'rtmsg');
  const attributes = new Attributes(bytes, rt.RTMSG);
  const family = familyOf(bytes[0]!);
  if (family === undefined) return undefined;
  const multipath = attributes.bytes(rt.RTA_MULTIPATH);
  return compact({
    family,
    destination: prefix(family, attributes.bytes(rt.RTA_DST), bytes[1]!) ?? defaultRoute(family),
    type: rt.routeTypes[bytes[7]!] ?? bytes[7]!,
    table: attributes.u32(rt.RTA_TABLE) ?? bytes[4]!,
    protocol: bytes[5]!,
    scope: scopeName(bytes[6]!),
    typeOfService: bytes[3] || undefined,
    source: prefix(family, attributes.bytes(rt.RTA_SRC), bytes[2]!),
    ...readHop(attributes, bytes.readUInt32LE(8)),
    ...readOptions(attributes),
    nextHops: multipath === undefined ? undefined : readNextHops(multipath),
  });
}

const defaultRoute = (family: Family): string => (family === 4 ? '0.0.0.0/0' : '::/0');

function prefix(family: Family, bytes: Buffer | undefined, length: number): string | undefined {
  if (length > addressBits(family)) throw new DecodeError(`a prefix length of ${length}`);
  return bytes === undefined ? undefined : `${decodeIp(bytes)}/${length}`;
}

function readHop(attributes: Attributes, flags: number) {
  return {
    link: attributes.u32(rt.RTA_OIF),
    gateway: readGateway(attributes),
    onlink: (flags & rt.RTNH_F_ONLINK) === 0 ? undefined : true,
    dead: (flags & (rt.RTNH_F_DEAD | rt.RTNH_F_LINKDOWN)) === 0 ? undefined : true,
  };
}

function readOptions(attributes: Attributes) {
  const source = attributes.bytes(rt.RTA_PREFSRC);
  return {
    preferredSource: source === undefined ? undefined : decodeIp(source),
    metric: attributes.u32(rt.RTA_PRIORITY),
    mtu: attributes.nested(rt.RTA_METRICS)?.u32(rt.RTAX_MTU),
    nextHopId: attributes.u32(rt.RTA_NH_ID),
  };
}

function readGateway(attributes: Attributes): string | undefined {
  const gateway = attributes.bytes(rt.RTA_GATEWAY) ?? readVia(attributes.bytes(rt.RTA_VIA));
  return gateway === undefined ? undefined : decodeIp(gateway);
}

/** struct rtvia: family (u16), address. Other families than IP (MPLS) are none of ours. */
function readVia(via: Buffer | undefined): Buffer | undefined {
  if (via === undefined || via.length < 2 || familyOf(via.readUInt16LE(0)) === undefined) return undefined;
  return via.subarray(2);
}

const RTNEXTHOP = 8;

function readNextHops(bytes: Buffer): NextHop[] {
  const hops: NextHop[] = [];
  for (let at = 0; at + RTNEXTHOP <= bytes.length;) {
    const length = bytes.readUInt16LE(at);
    if (length < RTNEXTHOP || at + length > bytes.length) {
      throw new DecodeError(`a next hop of ${length} bytes at ${at} of ${bytes.length}`);
    }
    hops.push(readNextHop(bytes.subarray(at, at + length)));
    at += align(length);
  }
  return hops;
}

function readNextHop(bytes: Buffer): NextHop {
  const hop = readHop(new Attributes(bytes, RTNEXTHOP), bytes[2]!);
  return compact({ ...hop, link: bytes.readInt32LE(4) || undefined, weight: bytes[3]! + 1 });
}
