/** ICMP echo probes, which every kernel answers. */
import fs from 'node:fs';
import { addressToBytes, type Family, familyOf, parseAddress } from '@podwire/addresses';
import { connectAddress, hasCode, openIcmpSocket, receive, send } from '@podwire/linux';
import type { TestbedNamespace } from '../net/namespaces.js';
import { attempts, fragmentsFor, describeSocketError, mtuOf, type Target } from './echo-client.js';

/** RFC 792 and RFC 4443. */
const types = { 4: { request: 8, reply: 0 }, 6: { request: 128, reply: 129 } } as const;
/** The IP header; behind it come eight bytes of ICMP. */
const headerBytes = { 4: 20, 6: 40 } as const;
const icmpBytes = 8;
/** Milliseconds. Node cannot wait for a raw socket. */
const lookEvery = 1;
let questions = 0;

/**
 * Sends one echo request as large as the path allows, with DF. Retries as `probeUdp` does.
 * @returns its bytes without headers
 * @throws Error with a readable message
 */
export async function ping(
  from: TestbedNamespace,
  { address, deadline, link }: Omit<Target, 'port'>,
): Promise<number> {
  const family = familyOf(address);
  const fd = from.inside(() => openIcmpSocket(family, { dontFragment: fragmentsFor(link) }));
  try {
    connectAddress(fd, addressToBytes(parseAddress(address)));
    return await exchange(
      fd,
      family,
      deadline,
      () => mtuOf(fd, family, link) - headerBytes[family] - icmpBytes,
    );
  } finally {
    fs.closeSync(fd);
  }
}

async function exchange(fd: number, family: Family, deadline: number, room: () => number): Promise<number> {
  const id = ++questions & 0xffff;
  let size = room();
  const begin = performance.now();
  for (let sent = 0; performance.now() - begin < deadline;) {
    try {
      if (performance.now() - begin >= (sent * deadline) / attempts) {
        sent += 1;
        send(fd, encodeEcho(family, id, size));
      }
      if (hasReply(fd, family, id)) return size;
    } catch (error) {
      const narrower = room();
      if (!hasCode(error, 'EMSGSIZE') || narrower >= size) throw describeSocketError(error as Error, size);
      size = narrower;
      sent = 0;
    }
    await new Promise((resolve) => setTimeout(resolve, lookEvery));
  }
  throw new Error(`no answer within ${deadline} ms (${size} bytes)`);
}

export function encodeEcho(family: Family, id: number, size: number): Buffer {
  const packet = Buffer.alloc(icmpBytes + size, 'podwire ');
  packet.fill(0, 0, icmpBytes);
  packet[0] = types[family].request;
  packet.writeUInt16BE(id, 4);
  // The kernel computes the checksum of ICMPv6, which covers the addresses (RFC 3542, section 3.1).
  if (family === 4) packet.writeUInt16BE(checksumOf(packet), 2);
  return packet;
}

/** RFC 1071. */
export function checksumOf(bytes: Uint8Array): number {
  let sum = 0;
  for (let at = 0; at < bytes.length; at += 2) sum += (bytes[at]! << 8) | (bytes[at + 1] ?? 0);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return ~sum & 0xffff;
}

const message = Buffer.alloc(65_536);

/** Reads until the socket is empty; it receives all ICMP of that address. */
function hasReply(fd: number, family: Family, id: number): boolean {
  for (;;) {
    try {
      const length = receive(fd, message);
      const icmp = message.subarray(family === 4 ? (message[0]! & 15) * 4 : 0, length);
      if (icmp[0] === types[family].reply && icmp.readUInt16BE(4) === id) return true;
    } catch (error) {
      if (hasCode(error, 'EAGAIN')) return false;
      throw error;
    }
  }
}
