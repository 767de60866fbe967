/** ICMP errors about packets that were not delivered. */
import fs from 'node:fs';
import { addressFromBytes, type Family, formatAddress } from '@podwire/addresses';
import { hasCode, openIcmpSocket, receiveFrom } from '@podwire/linux';
import type { TestbedNamespace } from '../net/namespaces.js';

export interface Complaint {
  /** `time exceeded`: the packet looped until its hop limit was 0. */
  readonly what: 'unreachable' | 'time exceeded';
  /** The router that reports it. */
  readonly by: string;
  /** Destination of the packet. */
  readonly about: string;
}

export interface Listening {
  /** Errors since the last call. */
  heard(): Complaint[];
  close(): void;
}

/** RFC 792 and RFC 4443. */
const types = {
  4: { 3: 'unreachable', 11: 'time exceeded' },
  6: { 1: 'unreachable', 3: 'time exceeded' },
} as const satisfies Record<Family, Record<number, Complaint['what']>>;
/** Offset of the destination in the quoted packet, after eight bytes of ICMP. */
const quoted = { 4: { at: 8 + 16, bytes: 4 }, 6: { at: 8 + 24, bytes: 16 } } as const;
const longest = 2048;

export function listenToIcmp(namespace: TestbedNamespace, family: Family): Listening {
  const fd = namespace.inside(() => openIcmpSocket(family));
  return { heard: () => readAll(fd, family), close: () => fs.closeSync(fd) };
}

function readAll(fd: number, family: Family): Complaint[] {
  const complaints: Complaint[] = [];
  const message = Buffer.alloc(longest);
  const sender = Buffer.alloc(family === 4 ? 16 : 28);
  for (;;) {
    try {
      const length = receiveFrom(fd, message, 0, sender);
      const complaint = readComplaint(family, message.subarray(0, length), sender);
      if (complaint !== undefined) complaints.push(complaint);
    } catch (error) {
      if (hasCode(error, 'EAGAIN')) return complaints;
      throw error;
    }
  }
}

function readComplaint(family: Family, message: Buffer, sender: Buffer): Complaint | undefined {
  // A raw IPv4 socket gives the IP header too (raw(7)).
  const icmp = family === 4 ? message.subarray(((message[0] ?? 0) & 15) * 4) : message;
  const what = (types[family] as Partial<Record<number, Complaint['what']>>)[icmp[0] ?? 0];
  const { at, bytes } = quoted[family];
  if (what === undefined || icmp.length < at + bytes) return undefined;
  const by = family === 4 ? sender.subarray(4, 8) : sender.subarray(8, 24);
  return { what, by: textOf(by), about: textOf(icmp.subarray(at, at + bytes)) };
}

const textOf = (bytes: Uint8Array): string => formatAddress(addressFromBytes(bytes));
