/**
 * Reads source and destination from the first bytes of a packet (RFC 791, RFC 8200). Any host can have sent it, and it
 * may be cut short.
 */
import { addressFromBytes, formatAddress } from '@podwire/addresses';
import { protocols } from '../values.js';

export interface PacketHeader {
  readonly family: 4 | 6;
  readonly source: string;
  readonly destination: string;
  /** A name of `protocols`, or the number. */
  readonly protocol: string | number;
  /** Of TCP, UDP and SCTP; absent where the packet is a later fragment, or cut off. */
  readonly sourcePort?: number;
  readonly destinationPort?: number;
  readonly icmpType?: number;
  readonly icmpCode?: number;
  /** Bytes of the whole packet, as it says itself. */
  readonly length: number;
}

const ETHERTYPE_IPV4 = 0x0800;
const ETHERTYPE_IPV6 = 0x86dd;

const protocolNames = new Map<number, string>(
  Object.entries(protocols).map(([name, number]) => [number, name]),
);

/** @param ethertype of the packet; its own version counts where that is not known */
export function readPacket(bytes: Buffer, ethertype: number | undefined): PacketHeader | undefined {
  const version = (bytes[0] ?? 0) >> 4;
  if (version === 4 && (ethertype ?? ETHERTYPE_IPV4) === ETHERTYPE_IPV4) return readIpv4(bytes);
  if (version === 6 && (ethertype ?? ETHERTYPE_IPV6) === ETHERTYPE_IPV6) return readIpv6(bytes);
  return undefined;
}

function readIpv4(bytes: Buffer): PacketHeader | undefined {
  const headerLength = 4 * (bytes[0]! & 0xf);
  if (bytes.length < 20 || headerLength < 20) return undefined;
  const isLaterFragment = (bytes.readUInt16BE(6) & 0x1fff) !== 0;
  const protocol = bytes[9]!;
  return {
    family: 4,
    ...addressesAt(bytes, 12, 4),
    protocol: protocolNames.get(protocol) ?? protocol,
    length: bytes.readUInt16BE(2),
    ...(isLaterFragment ? {} : readTransport(protocol, bytes.subarray(headerLength))),
  };
}

function readIpv6(bytes: Buffer): PacketHeader | undefined {
  if (bytes.length < 40) return undefined;
  const { protocol, offset } = skipExtensions(bytes);
  return {
    family: 6,
    ...addressesAt(bytes, 8, 16),
    protocol: protocolNames.get(protocol) ?? protocol,
    length: 40 + bytes.readUInt16BE(4),
    ...(offset === undefined ? {} : readTransport(protocol, bytes.subarray(offset))),
  };
}

function addressesAt(
  bytes: Buffer,
  start: number,
  length: number,
): Pick<PacketHeader, 'source' | 'destination'> {
  const at = (offset: number): string =>
    formatAddress(addressFromBytes(bytes.subarray(offset, offset + length)));
  return { source: at(start), destination: at(start + length) };
}

const extension = { hopByHop: 0, routing: 43, fragment: 44, authentication: 51, destination: 60 } as const;
const extensions: ReadonlySet<number> = new Set(Object.values(extension));

interface Transport {
  readonly protocol: number;
  /** Absent where it is in another fragment, or cut off. */
  readonly offset: number | undefined;
}

/** Each extension says what comes next, and in what units of its own how long it is. */
function skipExtensions(bytes: Buffer): Transport {
  let protocol = bytes[6]!;
  let offset = 40;
  while (extensions.has(protocol)) {
    if (offset + 8 > bytes.length) return { protocol, offset: undefined };
    const next = bytes[offset]!;
    if (protocol === extension.fragment) {
      const isLater = (bytes.readUInt16BE(offset + 2) & 0xfff8) !== 0;
      if (isLater) return { protocol: next, offset: undefined };
      offset += 8;
    } else {
      const units = bytes[offset + 1]!;
      offset += protocol === extension.authentication ? 4 * (units + 2) : 8 * (units + 1);
    }
    protocol = next;
  }
  return { protocol, offset };
}

const withPorts: ReadonlySet<number> = new Set([protocols.tcp, protocols.udp, protocols.sctp]);
const icmps: ReadonlySet<number> = new Set([protocols.icmp, protocols['ipv6-icmp']]);

function readTransport(protocol: number, bytes: Buffer): Partial<PacketHeader> {
  if (withPorts.has(protocol) && bytes.length >= 4)
    return { sourcePort: bytes.readUInt16BE(0), destinationPort: bytes.readUInt16BE(2) };
  if (icmps.has(protocol) && bytes.length >= 2) return { icmpType: bytes[0]!, icmpCode: bytes[1]! };
  return {};
}
