/**
 * Internet sockets for Node to take over by descriptor. A socket belongs for ever to the namespace in which socket(2) was
 * called, so one process can own sockets in many: open them inside `inNamespace`, and hand them to
 * `new net.Socket({ fd })`, `net.Server.listen({ fd })` or `dgram.Socket.bind({ fd })` outside of it.
 */
import fs from 'node:fs';
import { type Family } from '@podwire/addresses';
import { bind, connect, getSocketOption, ioctlBuffer, setSocketOption, socket } from './libc.js';

const AF = { 4: 2, 6: 10 } as const;
const SOCK_STREAM = 1;
const SOCK_DGRAM = 2;
const SOCK_RAW = 3;
const SOCK_NONBLOCK = 0o4000;
const SOCK_CLOEXEC = 0o2000000;
const IPPROTO_IP = 0;
const IPPROTO_ICMP = 1;
const IPPROTO_IPV6 = 41;
const IPPROTO_ICMPV6 = 58;
const IPV6_V6ONLY = 26;
/** IP_MTU_DISCOVER and IP_MTU (ip(7)), IPV6_MTU_DISCOVER and IPV6_MTU (ipv6(7)). */
const mtuOptions = {
  4: { level: IPPROTO_IP, discover: 10, mtu: 14 },
  6: { level: IPPROTO_IPV6, discover: 23, mtu: 24 },
} as const;
const PMTUDISC_DO = 2;
const PMTUDISC_PROBE = 3;
const SIOCGIFMTU = 0x8921;
/** struct ifreq: 16 bytes of name, then a union that begins with the MTU. */
const ifreq = { bytes: 40, value: 16 } as const;
/** sizeof(struct sockaddr_in), sizeof(struct sockaddr_in6). */
const addressBytes = { 4: 16, 6: 28 } as const;

/** A TCP socket, not yet bound or connected. An IPv6 one is for IPv6 alone. */
export function openStreamSocket(family: Family): number {
  return open(family, SOCK_STREAM, 0);
}

export interface DatagramOptions {
  /**
   * Sets DF, and lets no packet be fragmented here either: one that is too long for the path, according to routers, is
   * refused with EMSGSIZE. `own link`: ignores the routers; a packet is sent if its own link can carry it.
   */
  readonly dontFragment?: boolean | 'own link';
}

/** A UDP socket, not yet bound or connected. An IPv6 one is for IPv6 alone. */
export function openDatagramSocket(family: Family, { dontFragment = false }: DatagramOptions = {}): number {
  const fd = open(family, SOCK_DGRAM, 0);
  return withSocket(fd, () => setFragments(fd, family, dontFragment));
}

function setFragments(fd: number, family: Family, dont: boolean | 'own link'): void {
  if (dont === false) return;
  const { level, discover } = mtuOptions[family];
  setSocketOption(fd, level, discover, number(dont === true ? PMTUDISC_DO : PMTUDISC_PROBE));
}

/**
 * Receives every ICMP message that reaches the namespace (raw(7)): for IPv4 with its IP header, for IPv6 without. Read it with
 * `receiveFrom`, which throws `EAGAIN` when there is none. Needs CAP_NET_RAW.
 */
export function openIcmpSocket(family: Family, { dontFragment = false }: DatagramOptions = {}): number {
  const fd = open(family, SOCK_RAW, family === 4 ? IPPROTO_ICMP : IPPROTO_ICMPV6);
  return withSocket(fd, () => setFragments(fd, family, dontFragment));
}

/**
 * Binds to an address of the socket's namespace.
 * @param address 4 or 16 bytes; zeros are the wildcard address
 * @param port 0: one that is free
 */
export function bindAddress(fd: number, address: Uint8Array, port = 0): void {
  bind(fd, socketAddress(address, port));
}

/** The only peer of a datagram or ICMP socket. @param address 4 or 16 bytes */
export function connectAddress(fd: number, address: Uint8Array, port = 0): void {
  connect(fd, socketAddress(address, port));
}

/** struct sockaddr_in, struct sockaddr_in6 */
function socketAddress(address: Uint8Array, port: number): Buffer {
  const family = address.length === 4 ? 4 : 6;
  const bytes = Buffer.alloc(addressBytes[family]);
  bytes.writeUInt16LE(AF[family], 0);
  bytes.writeUInt16BE(port, 2);
  // Behind the port, in IPv6 behind the flow label too.
  bytes.set(address, family === 4 ? 4 : 8);
  return bytes;
}

/** The MTU of the path to where a connected socket leads, as far as it is known now; in bytes. */
export function readPathMtu(fd: number, family: Family): number {
  const { level, mtu } = mtuOptions[family];
  return getSocketOption(fd, level, mtu, 4).readInt32LE(0);
}

/**
 * The MTU of a link of the namespace that the socket belongs to, in bytes (netdevice(7)).
 * @throws SystemError `ENODEV` when there is none of this name
 */
export function readLinkMtu(fd: number, link: string): number {
  const request = Buffer.alloc(ifreq.bytes);
  request.write(link, 0, ifreq.value - 1, 'latin1');
  ioctlBuffer(fd, SIOCGIFMTU, request);
  return request.readInt32LE(ifreq.value);
}

function open(family: Family, type: number, protocol: number): number {
  const fd = socket(AF[family], type | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol);
  if (family === 4 || type === SOCK_RAW) return fd;
  return withSocket(fd, () => setSocketOption(fd, IPPROTO_IPV6, IPV6_V6ONLY, number(1)));
}

/** Closes it when the first step with it fails: no other code could. */
function withSocket(fd: number, work: () => void): number {
  try {
    work();
    return fd;
  } catch (error) {
    fs.closeSync(fd);
    throw error;
  }
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value);
  return bytes;
}
