import type { RawData, WebSocket } from 'ws';
import { QueuedDuplex } from '../queued-duplex.js';
import { type ChannelCodec, decodeMessage, encodeClose, encodeMessage } from './channels.js';

/** The directions of a channel. Data that comes on one that we do not read is dropped. */
export type ChannelMode = 'read' | 'write' | 'both' | 'ignore';

export interface ChannelConnection {
  readonly channels: readonly QueuedDuplex[];
  /** Resolves when the WebSocket is closed, for whatever reason. */
  readonly closed: Promise<void>;
  /** Says goodbye, after all that was written. */
  close(): void;
  destroy(): void;
}

/** bytes; messages larger than this end the connection */
export const maxMessageLength = 4_194_304;
/** bytes waiting for their readers at which we stop reading */
const maxBuffered = 1_048_576;
/** bytes of unread answers to pings at which we give the peer up */
const maxBacklog = 1_048_576;
/** milliseconds between pings to a peer that is not read */
const heartbeatMs = 10_000;
/** Longer writes are cut, so that channels take turns. */
const pieceLength = 32_768;

const protocolError = 1002;

/**
 * Streams over one WebSocket. One message per channel is under way at a time, so that the socket's back-pressure reaches the one who
 * writes. The WebSocket must not answer pings by itself (`autoPong: false`): those answers know no limit.
 */
export function createChannelConnection(
  ws: WebSocket,
  codec: ChannelCodec,
  modes: readonly ChannelMode[],
): ChannelConnection {
  const closed = new Promise<void>((resolve) => ws.once('close', () => resolve()));
  const inflow = createInflow(ws);
  const channels = modes.map((mode, channel) => createChannel(ws, codec, mode, channel, inflow));
  ws.on('error', () => undefined);
  ws.on('ping', (data) => {
    if (ws.bufferedAmount > maxBacklog) ws.terminate();
    else ws.pong(data);
  });
  ws.on('message', (raw: RawData) => {
    try {
      dispatch(codec, toBuffer(raw), modes, channels, inflow);
    } catch (error) {
      ws.close(protocolError, (error as Error).message.slice(0, 100));
    }
  });
  void closed.then(() => {
    inflow.discard();
    endChannels(modes, channels);
  });
  return {
    channels,
    closed,
    close: () => {
      inflow.discard();
      ws.close(1000);
    },
    destroy: () => ws.terminate(),
  };
}

interface Inflow {
  received(bytes: number): void;
  consumed(bytes: number): void;
  /** From now on nothing is held back. */
  discard(): void;
}

function createInflow(ws: WebSocket): Inflow {
  let buffered = 0;
  let heartbeat: NodeJS.Timeout | undefined;
  // A peer that is not read cannot be seen to go; writing to it shows that.
  const pause = (): void => {
    ws.pause();
    heartbeat ??= setInterval(() => ws.ping(), heartbeatMs).unref();
  };
  const resume = (): void => {
    clearInterval(heartbeat);
    heartbeat = undefined;
    if (ws.isPaused) ws.resume();
  };
  return {
    received: (bytes) => {
      buffered += bytes;
      if (buffered > maxBuffered) pause();
    },
    consumed: (bytes) => {
      buffered -= bytes;
      if (buffered <= maxBuffered / 2) resume();
    },
    discard: () => {
      buffered = -Infinity;
      resume();
    },
  };
}

function createChannel(
  ws: WebSocket,
  codec: ChannelCodec,
  mode: ChannelMode,
  channel: number,
  inflow: Inflow,
): QueuedDuplex {
  const writes = mode === 'write' || mode === 'both';
  return new QueuedDuplex({
    send: (chunk, done) => {
      if (writes) sendPieces(ws, codec, channel, chunk, done);
      else done();
    },
    sendEnd: (done) => {
      if (writes && codec.closes && ws.readyState === ws.OPEN)
        ws.send(encodeClose(channel), { binary: true });
      done();
    },
    consumed: (bytes) => inflow.consumed(bytes),
    destroyed: () => undefined,
  });
}

function sendPieces(
  ws: WebSocket,
  codec: ChannelCodec,
  channel: number,
  chunk: Buffer,
  done: (error?: Error | null) => void,
): void {
  const piece = chunk.subarray(0, pieceLength);
  const rest = chunk.subarray(piece.length);
  ws.send(encodeMessage(codec, channel, piece), { binary: !codec.base64 }, (error) => {
    if (error != null || rest.length === 0) done(error);
    else sendPieces(ws, codec, channel, rest, done);
  });
}

function dispatch(
  codec: ChannelCodec,
  raw: Buffer,
  modes: readonly ChannelMode[],
  channels: readonly QueuedDuplex[],
  inflow: Inflow,
): void {
  const message = decodeMessage(codec, raw);
  if (message === undefined) return;
  const number = 'closed' in message ? message.closed : message.channel;
  const channel = channels[number];
  if (channel === undefined) throw new Error(`there is no channel ${number}`);
  const reads = modes[number] === 'read' || modes[number] === 'both';
  if (!reads) return;
  if ('closed' in message) channel.receiveEnd();
  else if (message.data.length > 0) {
    inflow.received(message.data.length);
    channel.receive(message.data);
  }
}

/** No protocol before v5 tells the end of a channel, so the end of the connection is the end of all. */
function endChannels(modes: readonly ChannelMode[], channels: readonly QueuedDuplex[]): void {
  const gone = new Error('the connection was closed');
  for (const [number, channel] of channels.entries()) {
    channel.receiveEnd();
    if (modes[number] === 'write') channel.destroy(gone);
  }
}

function toBuffer(raw: RawData): Buffer {
  if (Buffer.isBuffer(raw)) return raw;
  return Array.isArray(raw) ? Buffer.concat(raw) : Buffer.from(raw);
}
