import type { Socket } from 'node:net';
import { finished } from 'node:stream/promises';
import { createSpdyConnection, type SpdyStream } from '../spdy/index.js';
import type { Forward } from './forward.js';
import { createSharedController } from './signals.js';

/**
 * Serves any number of forwarded connections over one client connection. Each is a pair of streams, one for data and one for what
 * went wrong, that share a `requestid`.
 */
export async function servePortForwardOverSpdy(
  socket: Socket,
  forward: Forward,
  pairTimeoutMs: number,
): Promise<void> {
  const pairs = new Map<string, Pair>();
  const abort = createSharedController();
  const connection = createSpdyConnection(socket, {
    role: 'server',
    onStream: (stream) => {
      const port = portOf(stream);
      const type = stream.headers.get('streamtype');
      if (port === undefined || (type !== 'data' && type !== 'error')) return false;
      const id = requestIdOf(stream, type);
      const pair = pairs.get(id) ?? startPair(id, pairs, pairTimeoutMs);
      if (pair[type] !== undefined) return false;
      pair[type] = stream;
      if (pair.data === undefined || pair.error === undefined) return true;
      clearTimeout(pair.timer);
      pairs.delete(id);
      // The streams exist for the client only once this has returned.
      setImmediate(servePair, pair.data, pair.error, port, forward, abort.signal);
      return true;
    },
  });
  await connection.closed;
  abort.abort(new Error('the client is gone'));
  for (const { timer } of pairs.values()) clearTimeout(timer);
}

interface Pair {
  data?: SpdyStream;
  error?: SpdyStream;
  readonly timer: NodeJS.Timeout;
}

function startPair(id: string, pairs: Map<string, Pair>, timeoutMs: number): Pair {
  const timer = setTimeout(() => {
    pairs.delete(id);
    const { data, error } = pair;
    error?.end(`the other stream of request ${id} did not come in time`);
    data?.destroy();
  }, timeoutMs);
  const pair: Pair = { timer };
  pairs.set(id, pair);
  return pair;
}

function servePair(
  data: SpdyStream,
  error: SpdyStream,
  port: number,
  forward: Forward,
  client: AbortSignal,
): void {
  error.resume();
  void forward(port, data, client).then((failure) => endPair(data, error, failure));
}

async function endPair(data: SpdyStream, error: SpdyStream, failure: string | undefined): Promise<void> {
  if (failure !== undefined && error.writable) error.write(failure);
  for (const stream of [data, error]) {
    if (!stream.writableEnded) stream.end();
    await finished(stream, { readable: false }).catch(() => undefined);
  }
  // Data that the client still sends is dropped, so that it does not block its other connections.
  if (!data.readableEnded) data.resume();
}

function portOf(stream: SpdyStream): number | undefined {
  const text = stream.headers.get('port') ?? '';
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return port >= 1 && port <= 65_535 ? port : undefined;
}

/** Clients that send no request id open both streams one after the other, the one for errors first. */
function requestIdOf(stream: SpdyStream, type: 'data' | 'error'): string {
  const id = stream.headers.get('requestid');
  if (id !== undefined && id !== '') return id;
  return `stream ${type === 'error' ? stream.id : stream.id - 2}`;
}
