/** HTTP as the original's server speaks it: Go's headers in Go's order, one request for each connection. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { deliver, type DeliverOptions, type HttpAnswer } from '@podwire/local-api';

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

/** Sends an answer. @throws PodwireError CALLER_GONE */
export const send = (
  response: ServerResponse,
  answer: HttpAnswer,
  { deadline, clock }: Omit<DeliverOptions, 'connection'>,
): Promise<void> => deliver(response, answer, { deadline, clock, connection: 'close' });
