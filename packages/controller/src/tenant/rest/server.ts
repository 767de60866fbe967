/** The master's port: every route of the original, at the leader or through it. */
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { bracketHost } from '@podwire/addresses';
import type { TenantMaster } from '@podwire/cluster-tenant';
import { describeError, PodwireError } from '@podwire/errors';
import {
  type ByteBudget,
  createByteBudget,
  deliver,
  type HttpAnswer,
  requestLimits,
  stopServers,
  watchCaller,
} from '@podwire/local-api';
import { type Clock, type Log, withDeadline } from '@podwire/platform';
import { answerRequest, failureAnswer, textAnswer } from './answer.js';
import { type Body, withBody } from './body.js';
import { forwardedHeader, forwardRequest } from './forward.js';

export interface RestServerOptions {
  /** Empty for all addresses. */
  readonly host: string;
  /** 0 for any that is free. */
  readonly port: number;
  /** While this one leads. */
  readonly master: () => TenantMaster | undefined;
  /** `HOST:PORT` of the one that leads, as the lock has it. @throws PodwireError as the store does */
  readonly findLeader: (signal: AbortSignal) => Promise<string | undefined>;
  readonly version: string;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
}

export interface RestServer {
  /** `HOST:PORT` where it listens. */
  readonly address: string;
  /** Ends when the open requests are answered. */
  stop(): Promise<void>;
}

/** Bytes. The original has no limit. */
const longestBody = 1 << 20;
/** Bytes of all bodies together. Usual ones have some hundred; as many of the longest as there are connections would be 2 GiB. */
const mostAtOnce = 64 << 20;
/** Milliseconds for a request, and for its answer to be taken. */
const deadline = 15_000;
/** Agents of a cluster keep one connection each. */
const maxConnections = 2_048;
/** Milliseconds that open requests have when the server stops. */
const lastAnswers = 2_000;

/** @throws the error of listening */
export async function serveRest(options: RestServerOptions): Promise<RestServer> {
  const { host, port, log } = options;
  const budget = createByteBudget(mostAtOnce);
  const server = http.createServer(requestLimits, (request, response) => {
    serve(options, budget, request, response).catch((error: unknown) => {
      log.debug({ err: error }, 'a request ended without an answer');
      response.destroy();
    });
  });
  server.maxConnections = maxConnections;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    // Without a host Node takes all addresses, of IPv6 as well where the machine has it.
    server.listen({ port, ...(host !== '' && { host }) }, resolve);
  });
  server.on('error', (error) => log.error({ err: error }, `the port failed: ${describeError(error)}`));
  const close = (): Promise<void> => new Promise((resolve) => void server.close(() => resolve()));
  const bound = server.address() as AddressInfo;
  return {
    address: `${bracketHost(host === '' ? bound.address : host)}:${bound.port}`,
    stop: () => stopServers([server], close, lastAnswers),
  };
}

async function serve(
  options: RestServerOptions,
  budget: ByteBudget,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const caller = watchCaller(response);
  const answer = await withBody(request, { longest: longestBody, budget }, (body) =>
    answerInTime(options, request, response, body, caller.signal),
  );
  caller.release();
  if (answer === undefined) return;
  logFailure(options.log, request, answer);
  if (response.headersSent) response.destroy();
  else await deliver(response, answer, { deadline, clock: options.clock, connection: 'keep' });
}

/** As {@link answerTo}; a failure is an answer as well. */
function answerInTime(
  options: RestServerOptions,
  request: IncomingMessage,
  response: ServerResponse,
  body: Body,
  gone: AbortSignal,
): Promise<HttpAnswer | undefined> {
  const work = (signal: AbortSignal): Promise<HttpAnswer | undefined> =>
    answerTo(options, request, response, body, signal);
  const reason = (): PodwireError =>
    new PodwireError('DEADLINE_EXCEEDED', `the request took longer than ${deadline} ms`);
  return withDeadline(gone, deadline, work, { reason }).catch(failureAnswer);
}

/** @returns undefined when the answer of the leader has been handed on */
async function answerTo(
  options: RestServerOptions,
  request: IncomingMessage,
  response: ServerResponse,
  body: Body,
  signal: AbortSignal,
): Promise<HttpAnswer | undefined> {
  if (body === 'too-long')
    return textAnswer(413, `body must have at most ${longestBody} bytes`, 'REQUEST_TOO_LARGE');
  if (body === 'too-much-at-once')
    return textAnswer(503, 'too many large requests are received at once: try again', 'REQUEST_TOO_LARGE');
  const { method = 'GET', url = '/', headers } = request;
  const master = options.master();
  if (master !== undefined) {
    const [path = ''] = url.split('?');
    const { 'content-type': contentType = '' } = headers;
    const { version } = options;
    return answerRequest({ master, version, signal }, { method, path, contentType, body });
  }
  if (headers[forwardedHeader] !== undefined) throw noLeader();
  const leader = await options.findLeader(signal);
  if (leader === undefined) throw noLeader();
  await forwardRequest(leader, { method, url, headers, body }, response, signal);
  return undefined;
}

const noLeader = (): PodwireError =>
  new PodwireError('STORE_UNAVAILABLE', 'Leader not found', {
    action: 'Try again: a master leads as soon as it has the lock in the store.',
  });

function logFailure(log: Log, { method, url }: IncomingMessage, { status, text }: HttpAnswer): void {
  if (status < 400) return;
  const fields = { method, url, status, answer: text.trimEnd() };
  if (status < 500) log.debug(fields, 'refused a request');
  else log.warn(fields, 'a request failed');
}
