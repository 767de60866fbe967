/** HTTP as the original's server speaks it: Go's headers in Go's order, one request for each connection. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { PodwireError } from '@podwire/errors';
import type { Clock } from '@podwire/platform';

export interface HttpAnswer {
  readonly status: number;
  readonly headers: readonly string[];
  readonly text: string;
}

/** A result, or nothing. */
export const goodAnswer = (text: string): HttpAnswer => ({
  status: 200,
  headers: ['Content-Type', 'application/json'],
  text,
});

/** As Go's `http.Error`, which ends the line. */
export const errorAnswer = (status: number, message: string): HttpAnswer => ({
  status,
  headers: ['Content-Type', 'text/plain; charset=utf-8', 'X-Content-Type-Options', 'nosniff'],
  text: `${message}\n`,
});

/** The answer to a request that is not for this server. */
export function routeAnswer({ method, url = '' }: IncomingMessage): HttpAnswer | undefined {
  if (url.split('?')[0] !== '/') return errorAnswer(404, '404 page not found');
  return method === 'POST' ? undefined : { status: 405, headers: [], text: '' };
}

export interface DeliverOptions {
  /** Milliseconds for the client to take an answer. */
  readonly deadline: number;
  readonly clock: Pick<Clock, 'now'>;
}

/** Sends an answer. @throws PodwireError CALLER_GONE */
export function deliver(
  response: ServerResponse,
  answer: HttpAnswer,
  { deadline, clock }: DeliverOptions,
): Promise<void> {
  const { socket } = response;
  return new Promise((resolve, reject) => {
    if (socket === null || response.destroyed) return reject(callerGone());
    const timer = setTimeout(() => response.destroy(), deadline);
    // Node calls an answer finished, too, when writing it has failed. Before its own listener, which takes the socket away.
    response.prependOnceListener('finish', () => {
      if (socket.errored === null && !socket.destroyed) resolve();
    });
    response.once('close', () => {
      clearTimeout(timer);
      reject(callerGone()); // without effect once it has been taken
    });
    write(response, answer, clock);
  });
}

function write(
  response: ServerResponse,
  { status, headers, text }: HttpAnswer,
  clock: Pick<Clock, 'now'>,
): void {
  response.sendDate = false; // it would come last
  const date = new Date(clock.now()).toUTCString();
  const length = String(Buffer.byteLength(text));
  const common = ['Date', date, 'Content-Length', length, 'Connection', 'close'];
  response.writeHead(status, [...headers, ...common]).end(text);
}

export function callerGone(): PodwireError {
  return new PodwireError('CALLER_GONE', 'the plugin has no use for its answer');
}
