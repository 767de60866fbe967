/** Messages: header, and a table of kinds. OpenFlow 1.4.0, 7.1. */
import { DecodeError } from '../errors.js';
import type { Change, Envelope, Message } from '../message.js';
import type { Features } from '../port-description.js';
import { LONGEST_MESSAGE, Reader, Writer } from './bytes.js';
import {
  ATOMIC_ORDERED,
  readBundleControl,
  readSetAsync,
  writeBundleControl,
  writeSetAsync,
} from './bundles.js';
import { VERSION } from './constants.js';
import { readList, readListRequest, writeDumpReply, writeDumpRequest } from './dumps.js';
import {
  readFlowRemoved,
  readPacketIn,
  readPacketOut,
  readPortStatus,
  writeFlowRemoved,
  writePacketIn,
  writePacketOut,
  writePortStatus,
} from './events.js';
import { readFlowMod, writeFlowMod } from './flow-mod.js';
import { writeFlowChanges, writeFlowMonitor } from './flow-monitor.js';
import { readGroupMod, readMeterMod, writeGroupMod, writeMeterMod } from './groups.js';

export const HEADER_LENGTH = 8;

type Of<Type extends Message['type']> = Extract<Message, { readonly type: Type }>;
type Known = Exclude<Message['type'], 'unknown'>;

interface Kind<M extends Message> {
  readonly number: number;
  write(writer: Writer, message: M, xid: number): void;
  /** Messages of one number are told apart by what is in them. */
  read(reader: Reader): Message;
}

function empty<M extends Message>(number: number, message: M): Kind<M> {
  return { number, write: () => undefined, read: () => message };
}

const writeData = (writer: Writer, { data }: { readonly data: Uint8Array }): void => void writer.bytes(data);
const readData = (reader: Reader): Buffer => reader.bytes(reader.remaining);

/** A bitmap of versions, of which this library speaks one; 7.5.1. */
function writeHello(writer: Writer): void {
  writer
    .u16(1)
    .u16(8)
    .u32(1 << VERSION);
}

function writeFeatures(writer: Writer, { datapathId, tables }: Features): void {
  writer
    .u64(BigInt(`0x${datapathId}`))
    .u32(0)
    .u8(tables)
    .zeros(3)
    .u32(0)
    .u32(0);
}

const readFeatures = (reader: Reader): Of<'features_reply'> => ({
  type: 'features_reply',
  datapathId: reader.u64().toString(16).padStart(16, '0'),
  tables: reader.skip(4).u8(),
});

function writeError(writer: Writer, { error, data }: Of<'error'>): void {
  writer.u16(error.type).u16(error.code).bytes(data);
}

function readError(reader: Reader): Of<'error'> {
  const [type, code] = [reader.u16(), reader.u16()];
  return { type: 'error', error: { type, code }, data: readData(reader) };
}

/** The message inside has the transaction id of the one around it. */
function writeBundleAdd(writer: Writer, { bundle, change }: Of<'bundle_add'>, xid: number): void {
  writer.u32(bundle).zeros(2).u16(ATOMIC_ORDERED);
  writeMessage(writer, change, xid);
}

function readBundleAdd(reader: Reader): Of<'bundle_add'> {
  const bundle = reader.u32();
  const { message } = readMessage(reader.skip(4));
  if (message.type !== 'flow_mod' && message.type !== 'group_mod')
    throw new DecodeError(`${message.type} in a bundle`, 'OFPBFC_MSG_UNSUP');
  return { type: 'bundle_add', bundle, change: message satisfies Change };
}

const kinds: { readonly [Type in Known]: Kind<Of<Type>> } = {
  hello: { number: 0, write: writeHello, read: () => ({ type: 'hello' }) },
  error: { number: 1, write: writeError, read: readError },
  echo_request: {
    number: 2,
    write: writeData,
    read: (reader) => ({ type: 'echo_request', data: readData(reader) }),
  },
  echo_reply: {
    number: 3,
    write: writeData,
    read: (reader) => ({ type: 'echo_reply', data: readData(reader) }),
  },
  features_request: empty(5, { type: 'features_request' }),
  features_reply: { number: 6, write: writeFeatures, read: readFeatures },
  packet_in: { number: 10, write: writePacketIn, read: readPacketIn },
  flow_removed: { number: 11, write: writeFlowRemoved, read: readFlowRemoved },
  port_status: { number: 12, write: writePortStatus, read: readPortStatus },
  packet_out: { number: 13, write: writePacketOut, read: readPacketOut },
  flow_mod: { number: 14, write: writeFlowMod, read: readFlowMod },
  group_mod: { number: 15, write: writeGroupMod, read: readGroupMod },
  dump_request: { number: 18, write: writeDumpRequest, read: readListRequest },
  flow_monitor: { number: 18, write: writeFlowMonitor, read: readListRequest },
  dump_reply: { number: 19, write: writeDumpReply, read: readList },
  flow_changes: { number: 19, write: writeFlowChanges, read: readList },
  barrier_request: empty(20, { type: 'barrier_request' }),
  barrier_reply: empty(21, { type: 'barrier_reply' }),
  set_async: { number: 28, write: writeSetAsync, read: readSetAsync },
  meter_mod: { number: 29, write: writeMeterMod, read: readMeterMod },
  bundle_control: { number: 33, write: writeBundleControl, read: readBundleControl },
  bundle_add: { number: 34, write: writeBundleAdd, read: readBundleAdd },
};

const byNumber = new Map<number, Kind<Message>>(
  Object.values(kinds).map((kind) => [kind.number, kind as unknown as Kind<Message>]),
);

/** Appends a message. @throws RangeError when its data cannot be encoded, or only in more bytes than a message has */
export function writeMessage(writer: Writer, message: Message, xid: number): void {
  if (message.type === 'unknown') throw new RangeError(`a message ${message.number} cannot be encoded`);
  const kind = kinds[message.type] as unknown as Kind<Message>;
  const start = writer.length;
  writer.u8(VERSION).u8(kind.number).u16(0).u32(xid);
  kind.write(writer, message, xid);
  if (writer.length - start > LONGEST_MESSAGE)
    throw new RangeError(`${message.type} of ${writer.length - start} bytes`);
  writer.lengthSince(start);
}

/** One message in a buffer of its own. */
export function encodeMessage({ message, xid }: Envelope): Buffer {
  const writer = new Writer();
  writeMessage(writer, message, xid);
  return writer.finish();
}

/** Reads one message from the rest of a buffer. */
function readMessage(reader: Reader): Envelope {
  const [version, number, length, xid] = [reader.u8(), reader.u8(), reader.u16(), reader.u32()];
  if (length < HEADER_LENGTH) throw new DecodeError(`a message of ${length} bytes`);
  const body = reader.part(length - HEADER_LENGTH);
  // Hello and its error stand outside of all versions; 6.3.1.
  if (version !== VERSION && number > 1)
    throw new DecodeError(`a message of version ${version}`, 'OFPBRC_BAD_VERSION');
  return { xid, message: byNumber.get(number)?.read(body) ?? { type: 'unknown', number } };
}

/** @throws DecodeError with the refusal of a switch */
export const decodeMessage = (bytes: Uint8Array): Envelope => readMessage(new Reader(bytes));
