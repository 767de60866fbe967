/** Messages of the packet log (include/uapi/linux/netfilter/nfnetlink_log.h); integers are big-endian. */
import { Attributes, type NetlinkMessage, type NetlinkRequest, readStructure } from '@podwire/netlink';
import { compact } from '@podwire/platform';
import { NFGENMSG } from '../protocol.js';
import { startPayload } from '../request.js';
import { type PacketHeader, readPacket } from './packet.js';

const NFNL_SUBSYS_ULOG = 4;
const message = (number: number): number => (NFNL_SUBSYS_ULOG << 8) | number;
const NFULNL_MSG_PACKET = message(0);
const NFULNL_MSG_CONFIG = message(1);

const configAttribute = { command: 1, mode: 2, bufferSize: 3, timeout: 4, threshold: 5, flags: 6 } as const;
const packetAttribute = {
  ...{ header: 1, mark: 2, timestamp: 3, inLink: 4, outLink: 5 },
  ...{ payload: 9, prefix: 10, sequence: 12 },
} as const;

const COMMAND_BIND = 1;
const COPY_PACKET = 2;
const FLAG_SEQUENCE = 1;
/** Packets that the kernel collects before it tells of them, hundredths of a second that it waits, and bytes for them. */
const TOGETHER = 32;
const WAIT = 5;
const BUFFER = 32 << 10;

/** A packet that a rule has logged. */
export interface LoggedPacket {
  readonly prefix: string;
  /** Milliseconds since 1970, where the kernel has noted when it came. */
  readonly time?: number;
  /** Indices of links, where there are any. */
  readonly inLink?: number;
  readonly outLink?: number;
  readonly mark: number;
  /** The part of its header that could be read; absent for a packet that is neither IPv4 nor IPv6. */
  readonly packet?: PacketHeader;
  /** Goes up by one with each packet of the group since it was bound, also with those that got lost. */
  readonly sequence: number;
}

/** Binds the asking socket to a group; `EPERM` when another one has it. @param snaplen bytes of each packet */
export function bindRequests(group: number, snaplen: number): NetlinkRequest[] {
  const config = (fill: (writer: ReturnType<typeof startPayload>) => void): NetlinkRequest => {
    const writer = startPayload(0, group);
    fill(writer);
    const label = `bind to log group ${group}`;
    return { type: NFULNL_MSG_CONFIG, flags: 0, payload: writer.finish(), label };
  };
  // struct nfulnl_msg_config_mode: how many bytes, how much, a byte of padding.
  const mode = Buffer.alloc(6);
  mode.writeUInt32BE(snaplen);
  mode.writeUInt8(COPY_PACKET, 4);
  return [
    config((to) => to.u8(configAttribute.command, COMMAND_BIND)),
    config((to) => {
      to.bytes(configAttribute.mode, mode).be32(configAttribute.bufferSize, BUFFER);
      to.be32(configAttribute.timeout, WAIT).be32(configAttribute.threshold, TOGETHER);
      to.be16(configAttribute.flags, FLAG_SEQUENCE);
    }),
  ];
}

/** `undefined` for a message that is none of a packet. @throws DecodeError */
export function decodePacket({ type, payload }: NetlinkMessage): LoggedPacket | undefined {
  if (type !== NFULNL_MSG_PACKET) return undefined;
  const bytes = readStructure(payload, NFGENMSG, 'struct nfgenmsg');
  const attributes = new Attributes(bytes, NFGENMSG);
  const header = attributes.bytes(packetAttribute.header);
  const content = attributes.bytes(packetAttribute.payload);
  const protocol = header === undefined || header.length < 2 ? undefined : header.readUInt16BE();
  return {
    prefix: attributes.text(packetAttribute.prefix) ?? '',
    mark: attributes.be32(packetAttribute.mark) ?? 0,
    sequence: attributes.be32(packetAttribute.sequence) ?? 0,
    ...compact({
      time: decodeTime(attributes.bytes(packetAttribute.timestamp)),
      inLink: attributes.be32(packetAttribute.inLink),
      outLink: attributes.be32(packetAttribute.outLink),
      packet: content === undefined ? undefined : readPacket(content, protocol),
    }),
  };
}

/** struct nfulnl_msg_packet_timestamp: seconds, microseconds. */
function decodeTime(bytes: Buffer | undefined): number | undefined {
  if (bytes === undefined || bytes.length < 16) return undefined;
  return Number(bytes.readBigUInt64BE(0)) * 1_000 + Number(bytes.readBigUInt64BE(8)) / 1_000;
}
