/** Events of the kernel about changes by every program: multicast groups of netlink(7). */
import fs from 'node:fs';
import {
  bind,
  hasCode,
  type NamespaceReference,
  receiveFrom,
  receiveMessage,
  send,
  setSocketOption,
} from '@podwire/linux';
import type { NetlinkMessage, NetlinkRequest } from './connection.js';
import { datagramLength, encodeDatagram, readMessages } from './datagram.js';
import { NetlinkBatchError } from './errors.js';
import { Exchange } from './exchange.js';
import {
  int,
  MSG_DONTWAIT,
  MSG_TRUNC,
  openSocket,
  setBufferSize,
  SO_RCVBUF,
  SO_RCVBUFFORCE,
  SOCKADDR_NL,
  SOL_NETLINK,
} from './socket.js';

/** RTNLGRP_* (include/uapi/linux/rtnetlink.h), groups of rtnetlink. */
export const routeGroups = {
  link: 1,
  neighbour: 3,
  trafficControl: 4,
  ipv4Address: 5,
  ipv4Route: 7,
  ipv4Rule: 8,
  ipv6Address: 9,
  ipv6Route: 11,
  ipv6Rule: 19,
  ipv4Parameter: 24,
  ipv6Parameter: 25,
} as const;

/** NFNLGRP_NFTABLES, of nfnetlink. */
export const NFTABLES_GROUP = 7;

const AF_NETLINK = 16;
const NETLINK_ADD_MEMBERSHIP = 1;
const NETLINK_LISTEN_ALL_NSID = 8;
/** struct cmsghdr of 64-bit Linux, then the id as an int. */
const CMSG_HEADER = 16;

export interface EventOptions {
  /** NETLINK_ROUTE, NETLINK_NETFILTER, … */
  readonly protocol: number;
  readonly groups: readonly number[];
  /** The caller's own when absent. It may be closed afterwards. */
  readonly namespace?: NamespaceReference | undefined;
  /**
   * Also what happens in namespaces that have an id in this one, as the other end of a veth pair has as soon as the
   * kernel has told of the pair. Needs CAP_NET_BROADCAST.
   */
  readonly allNamespaces?: boolean;
  /** Bytes that may wait to be read; 16 MiB when absent. A limit, not a reservation. */
  readonly buffer?: number;
  /**
   * Sent first, for what the kernel tells only to the socket that has asked for it: the packets of a log group.
   * Messages that come before all of them are acknowledged are lost.
   */
  readonly requests?: readonly NetlinkRequest[];
}

export interface NetlinkEvent extends NetlinkMessage {
  readonly payload: Buffer;
  /** Port id of the connection whose request has caused it; 0 for the kernel itself. */
  readonly port: number;
  /** Id of the namespace it happened in, if that is another than the listener's (`Link.parentNamespace`). */
  readonly namespace?: number;
}

export interface ReadEvents {
  readonly events: readonly NetlinkEvent[];
  /** Events were dropped since the last call: too many had waited. */
  readonly lost: boolean;
}

export interface NetlinkEvents {
  /** Events since the last call, at most about so many; never waits. */
  read(limit: number): ReadEvents;
  close(): void;
}

/** Events come from the call on. @throws SystemError */
export function openNetlinkEvents(options: EventOptions): NetlinkEvents {
  const { protocol, groups, namespace, allNamespaces = false, buffer = 16 << 20, requests = [] } = options;
  const fd = openSocket(protocol, namespace);
  try {
    setBufferSize(fd, SO_RCVBUFFORCE, SO_RCVBUF, buffer);
    const address = Buffer.alloc(SOCKADDR_NL);
    address.writeUInt16LE(AF_NETLINK, 0);
    bind(fd, address);
    if (allNamespaces) setSocketOption(fd, SOL_NETLINK, NETLINK_LISTEN_ALL_NSID, int(1));
    for (const group of groups) setSocketOption(fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, int(group));
    if (requests.length > 0) ask(fd, requests);
    return new EventSocket(fd);
  } catch (error) {
    fs.closeSync(fd);
    throw error;
  }
}

/** Reading is synchronous, so one of each is enough for all sockets. A notification is at most a page or two. */
const datagramBuffer = Buffer.allocUnsafeSlow(64 * 1024);
const controlBuffer = Buffer.allocUnsafeSlow(64);

/** The kernel has answered before `send` returns. @throws NetlinkBatchError */
function ask(fd: number, requests: readonly NetlinkRequest[]): void {
  const exchange = new Exchange(requests, 1);
  const datagram = Buffer.alloc(datagramLength(requests));
  encodeDatagram(requests, 1, exchange.acknowledged, datagram);
  send(fd, datagram);
  while (!exchange.complete) {
    const length = receiveFrom(fd, datagramBuffer, MSG_DONTWAIT | MSG_TRUNC, new Uint8Array(SOCKADDR_NL));
    const answer = Buffer.from(datagramBuffer.subarray(0, Math.min(length, datagramBuffer.length)));
    for (const message of readMessages(answer)) exchange.accept(message);
  }
  if (exchange.failures.length > 0) throw new NetlinkBatchError(exchange.failures, 'NFNETLINK');
}

class EventSocket implements NetlinkEvents {
  readonly #fd: number;

  constructor(fd: number) {
    this.#fd = fd;
  }

  read(limit: number): ReadEvents {
    const events: NetlinkEvent[] = [];
    let lost = false;
    while (events.length < limit) {
      const received = this.#receive();
      if (received === 'none') break;
      if (received === 'lost') lost = true;
      else events.push(...received);
    }
    return { events, lost };
  }

  #receive(): readonly NetlinkEvent[] | 'none' | 'lost' {
    try {
      const { length, controlLength } = receiveMessage(
        this.#fd,
        datagramBuffer,
        controlBuffer,
        MSG_DONTWAIT | MSG_TRUNC,
      );
      if (length > datagramBuffer.length) return 'lost';
      return decode(Buffer.from(datagramBuffer.subarray(0, length)), readNamespace(controlLength));
    } catch (error) {
      if (hasCode(error, 'EAGAIN')) return 'none';
      if (hasCode(error, 'EINTR')) return [];
      if (hasCode(error, 'ENOBUFS')) return 'lost';
      throw error;
    }
  }

  close(): void {
    fs.closeSync(this.#fd);
  }
}

function decode(datagram: Buffer, namespace: number | undefined): NetlinkEvent[] {
  return readMessages(datagram).map(({ type, flags, payload, port }) => ({
    ...{ type, flags, payload, port },
    ...(namespace === undefined ? {} : { namespace }),
  }));
}

/** The only control message of a netlink socket that asks for all namespaces; none for its own. */
function readNamespace(controlLength: number): number | undefined {
  if (controlLength < CMSG_HEADER + 4) return undefined;
  const [level, type] = [controlBuffer.readInt32LE(8), controlBuffer.readInt32LE(12)];
  if (level !== SOL_NETLINK || type !== NETLINK_LISTEN_ALL_NSID) return undefined;
  return controlBuffer.readInt32LE(CMSG_HEADER);
}
