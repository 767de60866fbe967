/** Packets in and out, and what a switch reports by itself: OpenFlow 1.4.0, 7.3.7 and 7.4. */
import { DecodeError } from '../errors.js';
import { formatFieldValue, parseFieldValue } from '../field-value.js';
import type {
  FlowRemoved,
  PacketIn,
  PacketOut,
  PortCounters,
  PortDescription,
  PortStatistics,
  PortStatus,
  RemovalReason,
} from '../port-description.js';
import { portNumber, portOf } from '../ports.js';
import { readActions, writeActions } from './actions.js';
import type { Reader, Writer } from './bytes.js';
import { NO_BUFFER } from './constants.js';
import { readCounter, readDuration, writeCounter, writeDuration } from './flow-mod.js';
import { readMatch, writeMatch } from './match.js';

const changes: readonly PortStatus['change'][] = ['add', 'delete', 'modify'];
// prettier-ignore
const reasons: readonly RemovalReason[] = [
  'idle_timeout', 'hard_timeout', 'delete', 'group_delete', 'meter_delete', 'eviction',
];
const PORT_DOWN = 1;
const LINK_DOWN = 1;
const NAME_LENGTH = 16;

export function writePacketOut(writer: Writer, { inPort = 'CONTROLLER', actions, packet }: PacketOut): void {
  writer.u32(NO_BUFFER).u32(portNumber(inPort));
  const at = writer.length;
  writer.u16(0).zeros(6);
  const start = writer.length;
  writeActions(writer, actions);
  writer.lengthSince(start, at).bytes(packet);
}

export function readPacketOut(reader: Reader): PacketOut {
  const [inPort, length] = [portOf(reader.skip(4).u32()), reader.u16()];
  const actions = readActions(reader.skip(6).part(length));
  return { type: 'packet_out', inPort, actions, packet: reader.bytes(reader.remaining) };
}

const cookieOf = (cookie: bigint): { cookie?: string } =>
  cookie === 0n ? {} : { cookie: `0x${cookie.toString(16)}` };
const parseCookie = (text = '0'): bigint => parseFieldValue('metadata', text).value;

export function writePacketIn(writer: Writer, event: PacketIn): void {
  const { reason, table, match, packet } = event;
  writer.u32(NO_BUFFER).u16(packet.length).u8(reason).u8(table).u64(parseCookie(event.cookie));
  writeMatch(writer, match);
  writer.zeros(2).bytes(packet);
}

export function readPacketIn(reader: Reader): PacketIn {
  const [reason, table, cookie] = [reader.skip(6).u8(), reader.u8(), reader.u64()];
  const match = readMatch(reader);
  const packet = reader.skip(2).bytes(reader.remaining);
  return { type: 'packet_in', reason, table, ...cookieOf(cookie), match, packet };
}

/** A description with its length inside; also an entry of a dump. */
export function writePortDescription(writer: Writer, description: PortDescription): void {
  const { port, name, mac, isDown, hasLink } = description;
  const start = writer.length;
  writer.u32(portNumber(port)).u16(0).zeros(2).big(parseFieldValue('eth_src', mac).value, 6).zeros(2);
  const bytes = Buffer.alloc(NAME_LENGTH);
  bytes.write(name, 0, NAME_LENGTH - 1);
  writer
    .bytes(bytes)
    .u32(isDown ? PORT_DOWN : 0)
    .u32(hasLink ? 0 : LINK_DOWN);
  writer.lengthSince(start, start + 4);
}

export function readPortDescription(reader: Reader): PortDescription {
  const [port, length] = [portOf(reader.u32()), reader.u16()];
  if (length < 40) throw new DecodeError(`a port of ${length} bytes`);
  const part = reader.part(length - 6).skip(2);
  const mac = formatFieldValue('eth_src', { value: part.big(6), mask: 0xffff_ffff_ffffn });
  const name = part.skip(2).bytes(NAME_LENGTH).toString('latin1').replace(/\0.*$/s, '');
  const [config, state] = [part.u32(), part.u32()];
  const [isDown, hasLink] = [(config & PORT_DOWN) !== 0, (state & LINK_DOWN) === 0];
  return { port, name, mac: String(mac), isDown, hasLink };
}

export function writePortStatus(writer: Writer, { change, description }: PortStatus): void {
  writer.u8(changes.indexOf(change)).zeros(7);
  writePortDescription(writer, description);
}

export function readPortStatus(reader: Reader): PortStatus {
  const change = changes[reader.u8()];
  if (change === undefined) throw new DecodeError('an unknown change of a port');
  return { type: 'port_status', change, description: readPortDescription(reader.skip(7)) };
}

export function writeFlowRemoved(writer: Writer, event: FlowRemoved): void {
  writer.u64(parseCookie(event.cookie)).u16(event.priority).u8(reasons.indexOf(event.reason)).u8(event.table);
  writeDuration(writer, event.duration).zeros(4);
  writeCounter(writeCounter(writer, event.packets), event.bytes);
  writeMatch(writer, event.match);
}

export function readFlowRemoved(reader: Reader): FlowRemoved {
  const [cookie, priority, reason, table] = [reader.u64(), reader.u16(), reasons[reader.u8()], reader.u8()];
  if (reason === undefined) throw new DecodeError('an unknown reason of a removal');
  const duration = readDuration(reader);
  const [packets, bytes] = [readCounter(reader.skip(4)), readCounter(reader)];
  return {
    type: 'flow_removed',
    reason,
    table,
    priority,
    ...cookieOf(cookie),
    match: readMatch(reader),
    duration,
    ...(packets === undefined ? {} : { packets }),
    ...(bytes === undefined ? {} : { bytes }),
  };
}

const counters = ['packets', 'bytes', 'dropped', 'errors'] as const;

/** An entry of a dump, with its length in front. */
export function writePortStatistics(writer: Writer, statistics: PortStatistics): void {
  const start = writer.length;
  writer.u16(0).zeros(2).u32(portNumber(statistics.port));
  writeDuration(writer, statistics.duration);
  for (const name of counters) {
    writeCounter(writer, statistics.received[name]);
    writeCounter(writer, statistics.sent[name]);
  }
  writer.lengthSince(start, start);
}

type MutableCounters = { -readonly [Name in keyof PortCounters]: PortCounters[Name] };

export function readPortStatistics(reader: Reader): PortStatistics {
  const port = portOf(reader.skip(2).u32());
  const duration = readDuration(reader);
  const [received, sent]: [MutableCounters, MutableCounters] = [{}, {}];
  for (const name of counters) {
    for (const direction of [received, sent]) {
      const count = readCounter(reader);
      if (count !== undefined) direction[name] = count;
    }
  }
  return { port, duration, received, sent };
}
