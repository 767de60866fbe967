import type { Duplex } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import { onAbort } from '@podwire/platform';
import { CriError } from '@podwire/cri';
import { spdyPortForwardProtocols, webSocketPortForwardProtocols } from '../protocols.js';
import { createSpdyConnection, type SpdyConnection } from '../spdy/index.js';
import { codecOf } from '../websocket/channels.js';
import { createChannelConnection } from '../websocket/connection.js';
import { dialSpdy, dialWebSocket, type DialOptions } from './dial.js';
import { dialFirst, type StreamTarget, type Transport } from './target.js';

export interface PortForwardOptions extends DialOptions {
  /**
   * Ways to try, in this order; SPDY first when absent. Over WebSocket the URL must have been asked for with this one port, and
   * neither end can tell that it has nothing more to say: it is over when `stream` closes or the server does.
   */
  readonly transports?: readonly Transport[];
}

/** A connection to a sandbox over which any number of connections to its ports can go. */
export interface PortForwarder {
  /**
   * Joins `stream` to the port, until both directions are over.
   * @throws CriError UNKNOWN with what the runtime said, UNAVAILABLE where the connection breaks
   */
  forward(port: number, stream: Duplex): Promise<void>;
  readonly closed: Promise<void>;
  close(): void;
}

/** Connects over SPDY, the only protocol that takes several connections. */
export async function connectPortForward(
  target: StreamTarget,
  options: DialOptions = {},
): Promise<PortForwarder> {
  return dialFirst(target, ['spdy'], (_transport, url) => connect(url, options));
}

/** Joins one stream to a port of a sandbox, until both directions are over. */
export async function openPortForward(
  target: StreamTarget,
  port: number,
  stream: Duplex,
  options: PortForwardOptions = {},
): Promise<void> {
  await dialFirst(target, options.transports ?? ['spdy', 'websocket'], async (transport, url) => {
    if (transport === 'websocket') return forwardOverWebSocket(url, port, stream, options);
    const forwarder = await connect(url, options);
    const unsubscribe = onAbort(options.signal, () => forwarder.close());
    try {
      return await forwarder.forward(port, stream);
    } finally {
      unsubscribe();
      forwarder.close();
    }
  });
}

async function connect(url: string, options: DialOptions): Promise<PortForwarder> {
  const { socket } = await dialSpdy(url, spdyPortForwardProtocols, options);
  const connection = createSpdyConnection(socket, { role: 'client' });
  let requests = 0;
  return {
    closed: connection.closed,
    close: () => connection.close(),
    forward: (port, stream) => {
      requests += 1;
      return forwardOverSpdy(connection, requests, port, stream);
    },
  };
}

async function forwardOverSpdy(
  connection: SpdyConnection,
  request: number,
  port: number,
  stream: Duplex,
): Promise<void> {
  const open = (type: string) =>
    connection
      .open(
        new Map([
          ['streamtype', type],
          ['port', String(port)],
          ['requestid', String(request)],
        ]),
      )
      .catch((error: unknown) => {
        throw new CriError('UNAVAILABLE', 'the connection to the sandbox broke', { cause: error });
      });
  const error = await open('error');
  error.end();
  const data = await open('data');
  const failure = readText(error);
  await joinStreams(stream, data, failure);
}

async function forwardOverWebSocket(
  url: string,
  port: number,
  stream: Duplex,
  options: DialOptions,
): Promise<void> {
  const ws = await dialWebSocket(url, webSocketPortForwardProtocols, options);
  const connection = createChannelConnection(ws, codecOf(ws.protocol), ['both', 'read']);
  ws.resume();
  // It must be ended here: neither end sees the other's half-close.
  stream.once('close', () => connection.close());
  const unsubscribe = onAbort(options.signal, () => connection.destroy());
  const data = connection.channels[0]!;
  const error = connection.channels[1]!;
  try {
    const failure = readText(error, 2);
    const head = await readExactly(data, 2);
    if (head.readUInt16LE() !== port)
      throw new CriError('INVALID_ARGUMENT', `the URL is not for port ${port}`);
    await joinStreams(stream, data, failure);
  } finally {
    unsubscribe();
    connection.close();
  }
}

/** The runtime's message comes first: it explains why the data ended. */
async function joinStreams(local: Duplex, remote: Duplex, failure: Promise<string>): Promise<void> {
  const upload = pipeline(local, remote, { end: true }).catch(() => undefined);
  const download = pipeline(remote, local).then(
    () => undefined,
    (error: unknown) => error,
  );
  const broken = await download;
  const message = await failure;
  if (message !== '') {
    local.destroy();
    throw new CriError('UNKNOWN', message);
  }
  if (broken !== undefined && !local.destroyed) {
    throw new CriError('UNAVAILABLE', 'the connection to the sandbox broke', { cause: broken });
  }
  // The port has said all it will; the rest of our data has no reader.
  remote.destroy();
  await upload;
  await finished(local, { readable: false }).catch(() => undefined);
}

const maxText = 65_536;

async function readText(source: Duplex, skip = 0): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of source as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length <= maxText) chunks.push(chunk);
    }
  } catch {
    // The connection broke, which the data tells as well.
  }
  return Buffer.concat(chunks).subarray(skip).toString('utf8');
}

async function readExactly(source: Duplex, length: number): Promise<Buffer> {
  for (;;) {
    const chunk = source.read(length) as Buffer | null;
    if (chunk !== null && chunk.length === length) return chunk;
    if (chunk !== null || source.readableEnded || source.destroyed) {
      throw new CriError('UNAVAILABLE', 'the connection to the sandbox broke');
    }
    await new Promise<void>((resolve) => {
      source.once('readable', resolve);
      source.once('end', resolve);
      source.once('close', resolve);
    });
  }
}
