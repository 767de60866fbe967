/**
 * The frames of SPDY/3.1 as data, and their bytes (§2.2 and §2.6 of the draft). Header blocks stay compressed here, since the
 * compression belongs to a connection and not to a frame. All numbers are unsigned and in network order.
 */
import { SpdyProtocolError } from './error.js';

export const spdyVersion = 3;
/** The length field has 24 bits. */
export const maxPayloadLength = 0xff_ffff;
export const frameHeaderLength = 8;

/** Ids of SETTINGS entries that this code speaks of. */
export const settingIds = { MAX_CONCURRENT_STREAMS: 4, INITIAL_WINDOW_SIZE: 7 } as const;

export interface SettingsEntry {
  readonly id: number;
  readonly flags: number;
  readonly value: number;
}

export interface SynStreamFrame {
  readonly type: 'synStream';
  readonly streamId: number;
  /** 0 where there is none. */
  readonly associatedTo: number;
  /** 0 is the highest, 7 the lowest. */
  readonly priority: number;
  readonly fin: boolean;
  readonly unidirectional: boolean;
  readonly block: Buffer;
}

export type SpdyFrame =
  | SynStreamFrame
  | { readonly type: 'synReply'; readonly streamId: number; readonly fin: boolean; readonly block: Buffer }
  | { readonly type: 'headers'; readonly streamId: number; readonly fin: boolean; readonly block: Buffer }
  | { readonly type: 'rstStream'; readonly streamId: number; readonly status: number }
  | { readonly type: 'settings'; readonly clear: boolean; readonly entries: readonly SettingsEntry[] }
  | { readonly type: 'ping'; readonly id: number }
  | { readonly type: 'goAway'; readonly lastGoodStreamId: number; readonly status: number }
  /** Stream 0 is the connection itself (new in 3.1). */
  | { readonly type: 'windowUpdate'; readonly streamId: number; readonly delta: number }
  | { readonly type: 'data'; readonly streamId: number; readonly fin: boolean; readonly data: Buffer };

const controlTypes = {
  synStream: 1,
  synReply: 2,
  rstStream: 3,
  settings: 4,
  ping: 6,
  goAway: 7,
  headers: 8,
  windowUpdate: 9,
} as const;

const flagFin = 0x01;
const flagUnidirectional = 0x02;
const flagClearSettings = 0x01;
const streamIdMask = 0x7fff_ffff;

/** @returns the whole frame */
export function encodeFrame(frame: SpdyFrame): Buffer {
  switch (frame.type) {
    case 'data':
      return Buffer.concat([
        encodeDataHeader(frame.streamId, frame.data.length, frame.fin),
        checkLength(frame.data),
      ]);
    case 'synStream':
      return encodeSynStream(frame);
    case 'synReply':
    case 'headers':
      return encodeControl(frame.type, finFlag(frame), [words(frame.streamId), frame.block]);
    case 'rstStream':
      return encodeControl(frame.type, 0, [words(frame.streamId, frame.status)]);
    case 'settings':
      return encodeSettings(frame.entries, frame.clear);
    case 'ping':
      return encodeControl(frame.type, 0, [words(frame.id)]);
    case 'goAway':
      return encodeControl(frame.type, 0, [words(frame.lastGoodStreamId, frame.status)]);
    case 'windowUpdate':
      return encodeControl(frame.type, 0, [words(frame.streamId, frame.delta)]);
  }
}

/** The eight bytes before the payload of a DATA frame, for writers that do not want the payload copied. */
export function encodeDataHeader(streamId: number, length: number, fin: boolean): Buffer {
  return words(streamId & streamIdMask, flagsAndLength(fin ? flagFin : 0, length));
}

/**
 * Reads the payload of a control frame. `type` is the wire's number.
 * @throws SpdyProtocolError where type, flags, length or a reserved zero is not as the protocol says
 */
export function decodeControl(type: number, flags: number, payload: Buffer): SpdyFrame {
  switch (type) {
    case controlTypes.synStream:
      return decodeSynStream(flags, payload);
    case controlTypes.synReply:
      return { type: 'synReply', ...decodeReply(flags, payload) };
    case controlTypes.headers:
      return { type: 'headers', ...decodeReply(flags, payload) };
    case controlTypes.rstStream:
      return decodeReset(payload);
    case controlTypes.settings:
      return decodeSettings(flags, payload);
    case controlTypes.ping:
      return { type: 'ping', id: readWords(payload, 1, 'PING')[0]! };
    case controlTypes.goAway: {
      const [lastGoodStreamId, status] = readWords(payload, 2, 'GOAWAY') as [number, number];
      return { type: 'goAway', lastGoodStreamId: lastGoodStreamId & streamIdMask, status };
    }
    case controlTypes.windowUpdate:
      return decodeWindowUpdate(payload);
    default:
      throw new SpdyProtocolError(`unknown control frame ${type}`);
  }
}

function encodeSynStream(frame: SynStreamFrame): Buffer {
  const fixed = Buffer.alloc(10);
  fixed.writeUInt32BE(frame.streamId & streamIdMask, 0);
  fixed.writeUInt32BE(frame.associatedTo & streamIdMask, 4);
  fixed.writeUInt8(frame.priority << 5, 8);
  const flags = finFlag(frame) | (frame.unidirectional ? flagUnidirectional : 0);
  return encodeControl('synStream', flags, [fixed, frame.block]);
}

function decodeSynStream(flags: number, payload: Buffer): SpdyFrame {
  if (payload.length < 10) throw new SpdyProtocolError('SYN_STREAM is too short');
  if ((flags & ~(flagFin | flagUnidirectional)) !== 0)
    throw new SpdyProtocolError('SYN_STREAM: unknown flags');
  return {
    type: 'synStream',
    streamId: streamIdAt(payload, 0),
    associatedTo: payload.readUInt32BE(4) & streamIdMask,
    priority: payload.readUInt8(8) >> 5,
    fin: (flags & flagFin) !== 0,
    unidirectional: (flags & flagUnidirectional) !== 0,
    block: payload.subarray(10),
  };
}

function decodeReply(flags: number, payload: Buffer): { streamId: number; fin: boolean; block: Buffer } {
  if (payload.length < 4) throw new SpdyProtocolError('SYN_REPLY or HEADERS is too short');
  if ((flags & ~flagFin) !== 0) throw new SpdyProtocolError('SYN_REPLY or HEADERS: unknown flags');
  return { streamId: streamIdAt(payload, 0), fin: (flags & flagFin) !== 0, block: payload.subarray(4) };
}

function decodeReset(payload: Buffer): SpdyFrame {
  const [, status] = readWords(payload, 2, 'RST_STREAM') as [number, number];
  if (status === 0) throw new SpdyProtocolError('RST_STREAM with status 0');
  return { type: 'rstStream', streamId: streamIdAt(payload, 0), status };
}

function encodeSettings(entries: readonly SettingsEntry[], clear: boolean): Buffer {
  const list = entries.map(({ id, flags, value }) =>
    words(((flags << 24) | (id & maxPayloadLength)) >>> 0, value),
  );
  return encodeControl('settings', clear ? flagClearSettings : 0, [words(entries.length), ...list]);
}

function decodeSettings(flags: number, payload: Buffer): SpdyFrame {
  if (payload.length < 4) throw new SpdyProtocolError('SETTINGS is too short');
  const count = payload.readUInt32BE(0);
  if (payload.length !== 4 + 8 * count) throw new SpdyProtocolError('SETTINGS: length and count disagree');
  const entries = Array.from({ length: count }, (_, index) => {
    const at = 4 + 8 * index;
    return {
      id: payload.readUIntBE(at + 1, 3),
      flags: payload.readUInt8(at),
      value: payload.readUInt32BE(at + 4),
    };
  });
  return { type: 'settings', clear: (flags & flagClearSettings) !== 0, entries };
}

function decodeWindowUpdate(payload: Buffer): SpdyFrame {
  const [streamId, delta] = readWords(payload, 2, 'WINDOW_UPDATE').map((word) => word & streamIdMask) as [
    number,
    number,
  ];
  if (delta === 0) throw new SpdyProtocolError('WINDOW_UPDATE of 0');
  return { type: 'windowUpdate', streamId, delta };
}

function encodeControl(type: keyof typeof controlTypes, flags: number, parts: readonly Buffer[]): Buffer {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const header = Buffer.alloc(frameHeaderLength);
  header.writeUInt16BE(0x8000 | spdyVersion, 0);
  header.writeUInt16BE(controlTypes[type], 2);
  header.writeUInt32BE(flagsAndLength(flags, length), 4);
  return Buffer.concat([header, ...parts]);
}

function flagsAndLength(flags: number, length: number): number {
  if (length > maxPayloadLength) throw new RangeError(`a frame cannot hold ${length} bytes`);
  return ((flags << 24) | length) >>> 0;
}

function checkLength(data: Buffer): Buffer {
  if (data.length > maxPayloadLength) throw new RangeError(`a frame cannot hold ${data.length} bytes`);
  return data;
}

function finFlag({ fin }: { readonly fin: boolean }): number {
  return fin ? flagFin : 0;
}

function words(...values: readonly number[]): Buffer {
  const buffer = Buffer.alloc(4 * values.length);
  values.forEach((value, index) => buffer.writeUInt32BE(value >>> 0, 4 * index));
  return buffer;
}

function readWords(payload: Buffer, count: number, name: string): number[] {
  if (payload.length !== 4 * count) throw new SpdyProtocolError(`${name} has ${payload.length} bytes`);
  return Array.from({ length: count }, (_, index) => payload.readUInt32BE(4 * index));
}

function streamIdAt(payload: Buffer, at: number): number {
  const streamId = payload.readUInt32BE(at) & streamIdMask;
  if (streamId === 0) throw new SpdyProtocolError('stream 0 where a stream is needed');
  return streamId;
}
