/** Clients that speak bytes, for what no proper client does. */
import { once } from 'node:events';
import net from 'node:net';
import {
  createFrameDecoder,
  createHeaderDecompressor,
  decodeHeaderBlock,
  type SpdyFrame,
} from '../../src/streaming/spdy/index.js';

/** Sends a request for a URL of the server, and the bytes that follow. */
export async function connectRaw(
  url: string,
  headers: readonly string[],
  method = 'POST',
): Promise<net.Socket> {
  const { hostname, port, pathname } = new URL(url);
  const socket = net.connect({ host: hostname, port: Number(port) });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write([`${method} ${pathname} HTTP/1.1`, `Host: ${hostname}`, ...headers, '', ''].join('\r\n'));
  return socket;
}

export const upgradeHeaders = (protocol = 'v4.channel.k8s.io'): string[] => [
  'Connection: Upgrade',
  'Upgrade: SPDY/3.1',
  `X-Stream-Protocol-Version: ${protocol}`,
];

/** Everything until the server closes. */
export async function readToEnd(socket: net.Socket): Promise<Buffer> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(socket, 'close');
  return Buffer.concat(chunks);
}

/** Splits off the answer of HTTP. */
export function splitAnswer(bytes: Buffer): { status: number; head: string; body: Buffer } {
  const end = bytes.indexOf('\r\n\r\n');
  const head = bytes.toString('latin1', 0, end);
  return { status: Number(head.split(' ')[1]), head, body: bytes.subarray(end + 4) };
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
