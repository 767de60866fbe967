import fs from 'node:fs';
import os from 'node:os';
import {
  hasCode,
  inNamespace,
  type NamespaceReference,
  openSocketNamespace,
  receiveFrom,
  send,
  sendAsync,
  setSocketOption,
  socket,
  socketName,
} from '@podwire/linux';
import type { NetlinkConnection } from './connection.js';
import { Conversation } from './conversation.js';
import type { NetlinkPort } from './port.js';
import { NETLINK_NETFILTER, NETLINK_ROUTE } from './protocol.js';

const AF_NETLINK = 16;
const SOCK_RAW = 3;
const SOCK_CLOEXEC = 0o2000000;
export const MSG_DONTWAIT = 0x40;
export const MSG_TRUNC = 0x20;

const SOL_SOCKET = 1;
const SO_SNDBUF = 7;
export const SO_RCVBUF = 8;
const SO_RCVTIMEO = 20;
const SO_SNDBUFFORCE = 32;
export const SO_RCVBUFFORCE = 33;

export const SOL_NETLINK = 270;
const NETLINK_CAP_ACK = 10;
const NETLINK_EXT_ACK = 11;
const NETLINK_GET_STRICT_CHK = 12;

/** Limits, not reservations: the kernel takes memory as datagrams are queued. A batch of nftables can be large. */
const SEND_BUFFER = 32 << 20;
const RECEIVE_BUFFER = 8 << 20;
const SMALL_DATAGRAM = 1024;
const DEFAULT_TIMEOUT_MS = 5_000;

const answerers = new Map([
  [NETLINK_ROUTE, 'RTNETLINK'],
  [NETLINK_NETFILTER, 'NFNETLINK'],
]);

export interface RouteConnectionOptions {
  /** The network namespace to talk to; the caller's own when absent. It may be closed afterwards. */
  readonly namespace?: NamespaceReference | undefined;
  /**
   * Milliseconds to wait for an answer. The kernel answers before a request returns, so this only keeps a broken
   * exchange from blocking the thread for ever.
   */
  readonly timeout?: number;
}

export interface ConnectionOptions extends RouteConnectionOptions {
  /** NETLINK_ROUTE, NETLINK_NETFILTER, … */
  readonly protocol: number;
}

/**
 * Opens a netlink socket inside a namespace. It stays bound to that namespace.
 * @throws SystemError
 */
export function openNetlinkConnection(options: ConnectionOptions): NetlinkConnection {
  if (os.endianness() !== 'LE')
    throw new TypeError('this library speaks netlink on little-endian machines only');
  const { namespace, protocol, timeout = DEFAULT_TIMEOUT_MS } = options;
  return new Conversation(new SocketPort({ protocol, timeout }, namespace), answerers.get(protocol));
}

export function openSocket(protocol: number, namespace: NamespaceReference | undefined): number {
  const open = () => socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol);
  const fd = namespace === undefined ? open() : inNamespace(namespace, open);
  try {
    for (const option of [NETLINK_CAP_ACK, NETLINK_EXT_ACK, NETLINK_GET_STRICT_CHK]) {
      setSocketOption(fd, SOL_NETLINK, option, int(1));
    }
    return fd;
  } catch (error) {
    fs.closeSync(fd);
    throw error;
  }
}

/** As {@link openNetlinkConnection}, for rtnetlink. */
export function openRouteConnection(options: RouteConnectionOptions = {}): NetlinkConnection {
  return openNetlinkConnection({ ...options, protocol: NETLINK_ROUTE });
}

/** The forced variant needs CAP_NET_ADMIN in the first user namespace; without it the system's limits apply. */
export function setBufferSize(fd: number, forced: number, plain: number, size: number): void {
  try {
    setSocketOption(fd, SOL_SOCKET, forced, int(size));
  } catch (error) {
    if (!hasCode(error, 'EPERM')) throw error;
    setSocketOption(fd, SOL_SOCKET, plain, int(size));
  }
}

export const int = (value: number): Uint8Array => new Uint8Array(new Int32Array([value]).buffer);

function timeval(milliseconds: number): Uint8Array {
  const seconds = BigInt(Math.floor(milliseconds / 1000));
  return new Uint8Array(new BigInt64Array([seconds, BigInt(milliseconds % 1000) * 1000n]).buffer);
}

export const SOCKADDR_NL = 12;
const sender = new Uint8Array(SOCKADDR_NL);
const senderPort = new Uint32Array(sender.buffer, 4, 1);

/**
 * A connection that wires one pod lives for a few hundred microseconds, so what only others need is set when they
 * need it. The kernel binds the socket to a port of its choice with the first request.
 */
class SocketPort implements NetlinkPort {
  readonly #protocol: number;
  readonly #timeout: number;
  #fd: number;
  #hasLargeBuffers = false;
  #hasTimeout = false;

  constructor(
    { protocol, timeout }: Required<Pick<ConnectionOptions, 'protocol' | 'timeout'>>,
    namespace: NamespaceReference | undefined,
  ) {
    this.#protocol = protocol;
    this.#timeout = timeout;
    this.#fd = openSocket(protocol, namespace);
  }

  send(datagram: Uint8Array): void {
    this.#makeRoom(datagram.length);
    send(this.#fd, datagram);
  }

  async sendAsync(datagram: Uint8Array): Promise<void> {
    this.#makeRoom(datagram.length);
    await sendAsync(this.#fd, datagram);
  }

  /** The system's default takes the answers to some 30 requests, whatever they are. */
  #makeRoom(length: number): void {
    if (this.#hasLargeBuffers || length <= SMALL_DATAGRAM) return;
    setBufferSize(this.#fd, SO_SNDBUFFORCE, SO_SNDBUF, SEND_BUFFER);
    setBufferSize(this.#fd, SO_RCVBUFFORCE, SO_RCVBUF, RECEIVE_BUFFER);
    this.#hasLargeBuffers = true;
  }

  #limitWaiting(): void {
    if (this.#hasTimeout) return;
    setSocketOption(this.#fd, SOL_SOCKET, SO_RCVTIMEO, timeval(this.#timeout));
    this.#hasTimeout = true;
  }

  receive(into: Uint8Array, wait: boolean): number | undefined {
    if (wait) this.#limitWaiting();
    for (;;) {
      const length = this.#receiveAny(into, wait);
      // Port 0 is the kernel. Any process with CAP_NET_ADMIN in the namespace, of a pod for instance, can send to us too.
      if (length === undefined || senderPort[0] === 0) return length;
    }
  }

  #receiveAny(into: Uint8Array, wait: boolean): number | undefined {
    try {
      return receiveFrom(this.#fd, into, wait ? MSG_TRUNC : MSG_TRUNC | MSG_DONTWAIT, sender);
    } catch (error) {
      if (hasCode(error, 'EAGAIN')) return undefined;
      if (hasCode(error, 'EINTR')) return this.#receiveAny(into, wait);
      throw error;
    }
  }

  portId(): number {
    const own = Buffer.alloc(SOCKADDR_NL);
    socketName(this.#fd, own);
    return own.readUInt32LE(4);
  }

  /** The kernel ends a dump early only when its socket is closed. */
  renew(): void {
    const namespace = openSocketNamespace(this.#fd);
    try {
      const fd = openSocket(this.#protocol, { fd: namespace });
      fs.closeSync(this.#fd);
      this.#fd = fd;
      this.#hasLargeBuffers = false;
      this.#hasTimeout = false;
    } finally {
      fs.closeSync(namespace);
    }
  }

  close(): void {
    fs.closeSync(this.#fd);
  }
}
