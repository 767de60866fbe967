/** Clients that speak bytes, for what no proper client does. */
import { once } from 'node:events';
import net from 'node:net';
import {
  createFrameDecoder,
  createHeaderCompressor,
  createHeaderDecompressor,
  decodeHeaderBlock,
  encodeFrame,
  encodeHeaderBlock,
  type SpdyFrame,
} from '../src/spdy/index.js';

/** Sends a request for a URL of the server, with `early` in one piece. */
export async function connectRaw(
  url: string,
  headers: readonly string[],
  method = 'POST',
  early: Uint8Array = Buffer.alloc(0),
): Promise<net.Socket> {
  const { hostname, port, pathname } = new URL(url);
  const socket = net.connect({ host: hostname, port: Number(port) });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  const head = [`${method} ${pathname} HTTP/1.1`, `Host: ${hostname}`, ...headers, '', ''].join('\r\n');
  socket.write(Buffer.concat([Buffer.from(head), early]));
  return socket;
}

export const upgradeHeaders = (protocol = 'v4.channel.k8s.io'): string[] => [
  'Connection: Upgrade',
  'Upgrade: SPDY/3.1',
  `X-Stream-Protocol-Version: ${protocol}`,
];

export const webSocketHeaders = (protocol = 'v4.channel.k8s.io'): string[] => [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
  `Sec-WebSocket-Protocol: ${protocol}`,
];

/** A frame of a WebSocket's client, masked with zeros. */
export function webSocketFrame(payload: Uint8Array, firstByte = 0x82): Buffer {
  return Buffer.concat([Buffer.from([firstByte, 0x80 | payload.length, 0, 0, 0, 0]), payload]);
}

/** Everything until the server closes. */
export async function readToEnd(socket: net.Socket): Promise<Buffer> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(socket, 'close');
  return Buffer.concat(chunks);
}

/** The same of a WebSocket: the server waits for its client to answer the frame that closes it. */
export async function readWebSocketToEnd(socket: net.Socket): Promise<Buffer> {
  const closing = 0x88;
  socket.on('data', (chunk: Buffer) => chunk.includes(closing) && socket.end());
  return readToEnd(socket);
}

/** Splits off the answer of HTTP. */
export function splitAnswer(bytes: Buffer): { status: number; head: string; body: Buffer } {
  const end = bytes.indexOf('\r\n\r\n');
  const head = bytes.toString('latin1', 0, end);
  return { status: Number(head.split(' ')[1]), head, body: bytes.subarray(end + 4) };
}

/** The streams of a command, opened in this order as 1, 3, 5 …, and its whole input. */
export function encodeSpdyCommand(types: readonly string[], input: string): Buffer {
  const pack = createHeaderCompressor();
  const opened = types.map((type, index) =>
    encodeFrame({
      type: 'synStream',
      ...{ streamId: 2 * index + 1, associatedTo: 0, priority: 0, fin: false, unidirectional: false },
      block: pack(encodeHeaderBlock(new Map([['streamtype', type]]))),
    }),
  );
  const streamId = 2 * types.indexOf('stdin') + 1;
  const data = encodeFrame({ type: 'data', streamId, fin: true, data: Buffer.from(input) });
  return Buffer.concat([...opened, data]);
}

/** Frames as one reads them in a trace: `synReply 1`, `data 5 hello`, `data 5 fin`. Settings and windows are left out. */
export function describeFrames(bytes: Buffer): string[] {
  const unpack = createHeaderDecompressor();
  return createFrameDecoder()(bytes)
    .filter(({ type }) => type !== 'settings' && type !== 'windowUpdate')
    .map((frame) => describeFrame(frame, unpack));
}

function describeFrame(frame: SpdyFrame, unpack: (packed: Buffer) => Buffer): string {
  switch (frame.type) {
    case 'synStream':
    case 'synReply': {
      const headers = [...decodeHeaderBlock(unpack(frame.block))].map(([name, value]) => `${name}=${value}`);
      return [frame.type, frame.streamId, ...headers].join(' ');
    }
    case 'data':
      return [
        'data',
        frame.streamId,
        ...(frame.data.length > 0 ? [frame.data] : []),
        ...(frame.fin ? ['fin'] : []),
      ].join(' ');
    case 'rstStream':
      return `rstStream ${frame.streamId} ${frame.status}`;
    case 'goAway':
      return `goAway ${frame.lastGoodStreamId} ${frame.status}`;
    default:
      return frame.type;
  }
}
