/** A server for the CNI plugins of other systems, which expect the bytes of their own server: parts of HTTP for it. */
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { describeError, PodwireError } from '@podwire/errors';
import type { PeerCredentials } from '@podwire/linux';
import type { Clock, Log } from '@podwire/platform';
import { isOwnCaller } from './http-parts.js';
import { requestLimits } from './patience.js';

export interface PluginServerOptions {
  readonly maxConnections: number;
  readonly peerCredentials: (socket: Socket) => PeerCredentials | undefined;
  readonly log: Log;
  /** Answers a request. A rejection ends the connection. */
  readonly serve: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
}

/** A server that does not listen yet. It takes connections of root and of its own user alone. */
export function createPluginServer(options: PluginServerOptions): http.Server {
  const { log, maxConnections, peerCredentials, serve } = options;
  const server = http.createServer(requestLimits, (request, response) => {
    serve(request, response).catch((error: unknown) => {
      log.debug({ err: error }, 'a request of a plugin ended without an answer');
      response.destroy();
    });
  });
  server.maxConnections = maxConnections;
  server.on('connection', (socket: Socket) => {
    const peer = peerCredentials(socket);
    if (isOwnCaller(peer)) return;
    log.warn({ peer }, 'refused a caller');
    socket.destroy();
  });
  server.on('error', (error) => log.error({ err: error }, `the socket failed: ${describeError(error)}`));
  return server;
}

export interface HttpAnswer {
  readonly status: number;
  /** Names and values by turns, before those that every answer has. */
  readonly headers: readonly string[];
  readonly text: string;
}

export interface DeliverOptions {
  /** Milliseconds for the client to take an answer. */
  readonly deadline: number;
  readonly clock: Pick<Clock, 'now'>;
  /** The connection after the answer. With `keep` no header speaks of it, as with Go's servers. */
  readonly connection: 'close' | 'keep';
}

/** Sends an answer with the headers of Go's servers. @throws PodwireError CALLER_GONE */
export function deliver(
  response: ServerResponse,
  answer: HttpAnswer,
  { deadline, clock, connection }: DeliverOptions,
): Promise<void> {
  const { socket } = response;
  return new Promise((resolve, reject) => {
    if (socket === null || response.destroyed) return reject(callerGone());
    const timer = setTimeout(() => response.destroy(), deadline);
    // Node calls an answer finished, too, when writing it has failed. Before its own listener, which takes the socket.
    response.prependOnceListener('finish', () => {
      if (socket.errored === null && !socket.destroyed) resolve();
    });
    response.once('close', () => {
      clearTimeout(timer);
      reject(callerGone()); // without effect once it has been taken
    });
    response.sendDate = false; // it would come last
    if (connection === 'keep') response.removeHeader('Connection'); // or Node writes one
    const date = new Date(clock.now()).toUTCString();
    response.writeHead(answer.status, toHeaders(answer, date, connection)).end(answer.text);
  });
}

function toHeaders({ status, headers, text }: HttpAnswer, date: string, connection: string): string[] {
  const length = status === 204 ? [] : ['Content-Length', String(Buffer.byteLength(text))];
  const end = connection === 'close' ? ['Connection', 'close'] : [];
  return [...headers, 'Date', date, ...length, ...end];
}

export interface CallerWatch {
  /** Aborts when the caller goes away. */
  readonly signal: AbortSignal;
  /** Says that the caller is gone. */
  readonly abort: () => void;
  /** Ends the watch: the connection is also closed after a good answer. */
  readonly release: () => void;
}

export function watchCaller(response: ServerResponse): CallerWatch {
  const gone = new AbortController();
  const abort = (): void => gone.abort(callerGone());
  if (response.destroyed) abort();
  else response.once('close', abort);
  return { signal: gone.signal, abort, release: () => void response.off('close', abort) };
}

export function callerGone(): PodwireError {
  return new PodwireError('CALLER_GONE', 'the plugin has no use for its answer');
}
