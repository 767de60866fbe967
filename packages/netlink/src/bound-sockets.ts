/** Sockets that wait for others: what `ss -l` shows (sock_diag(7)). */
import { Attributes, readStructure } from './attributes.js';
import type { NetlinkConnection, NetlinkMessage, NetlinkRequest } from './connection.js';
import { dumpUnless } from './dump.js';
import { DecodeError } from './errors.js';
import { decodeIp, type Family, familyNumber, familyOf } from './ip-address.js';
import { PayloadWriter } from './payload.js';
import { NETLINK_SOCK_DIAG } from './protocol.js';
import { openNetlinkConnection, type RouteConnectionOptions } from './socket.js';

const SOCK_DIAG_BY_FAMILY = 20;
/** struct inet_diag_req_v2 and inet_diag_msg (linux/inet_diag.h). */
const REQUEST_LENGTH = 56;
const MESSAGE_LENGTH = 72;
const INET_DIAG_SKV6ONLY = 11;

/** The number of the protocol, and the state of a socket that has a port and no peer. */
const protocols = {
  tcp: { number: 6, state: 10 }, // TCP_LISTEN
  udp: { number: 17, state: 7 }, // TCP_CLOSE
} as const;

export interface BoundSocket {
  readonly protocol: 'tcp' | 'udp';
  readonly family: Family;
  /** `0.0.0.0` or `::` when it is bound to none. */
  readonly address: string;
  readonly port: number;
  /** The link it is bound to. */
  readonly link?: number;
  /** Of IPv6: it takes no IPv4 (IPV6_V6ONLY). */
  readonly v6Only: boolean;
  readonly uid: number;
  readonly inode: number;
}

/** A connection for {@link listBoundSockets}. @throws SystemError */
export function openSocketConnection(options: RouteConnectionOptions = {}): NetlinkConnection {
  return openNetlinkConnection({ ...options, protocol: NETLINK_SOCK_DIAG });
}

/**
 * TCP sockets that listen, or UDP sockets that have a port and no peer, of the connection's network namespace.
 * Empty on a kernel without the protocol's part of sock_diag.
 * @throws NetlinkError, DecodeError
 */
export function listBoundSockets(
  connection: NetlinkConnection,
  protocol: BoundSocket['protocol'],
): BoundSocket[] {
  return ([4, 6] as const).flatMap((family) =>
    dumpUnless(connection, boundSocketsRequest(protocol, family), ['ENOENT']).map((message) =>
      decodeBoundSocket(message, protocol),
    ),
  );
}

export function boundSocketsRequest(protocol: BoundSocket['protocol'], family: Family): NetlinkRequest {
  const { number, state } = protocols[protocol];
  const payload = new PayloadWriter(REQUEST_LENGTH);
  const header = payload.at(0, REQUEST_LENGTH);
  header.writeUInt8(familyNumber(family), 0);
  header.writeUInt8(number, 1);
  header.writeUInt32LE(1 << state, 4);
  return {
    type: SOCK_DIAG_BY_FAMILY,
    flags: 0,
    payload: payload.finish(),
    label: `list ${protocol} sockets of IPv${family}`,
  };
}

/** @throws DecodeError */
export function decodeBoundSocket(
  { payload }: NetlinkMessage,
  protocol: BoundSocket['protocol'],
): BoundSocket {
  const bytes = readStructure(payload, MESSAGE_LENGTH, 'inet_diag_msg');
  const family = familyOf(bytes.readUInt8(0));
  if (family === undefined) throw new DecodeError(`a socket of family ${bytes[0]}`);
  const link = bytes.readUInt32LE(40);
  return {
    protocol,
    family,
    address: decodeIp(bytes.subarray(8, family === 4 ? 12 : 24)),
    port: bytes.readUInt16BE(4),
    ...(link === 0 ? {} : { link }),
    v6Only: new Attributes(bytes, MESSAGE_LENGTH).u8(INET_DIAG_SKV6ONLY) === 1,
    uid: bytes.readUInt32LE(64),
    inode: bytes.readUInt32LE(68),
  };
}
