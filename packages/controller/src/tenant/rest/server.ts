/** The master's port: every route of the original, at the leader or through it. */
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { bracketHost } from '@podwire/addresses';
import type { TenantMaster } from '@podwire/cluster-tenant';
import { describeError, PodwireError } from '@podwire/errors';
import {
  deliver,
  type HttpAnswer,
  readBytes,
  requestLimits,
  stopServers,
  watchCaller,
} from '@podwire/local-api';
import { type Clock, type Log, withDeadline } from '@podwire/platform';
import { answerRequest, failureAnswer, textAnswer } from './answer.js';
import { forwardedHeader, forwardRequest } from './forward.js';

export interface RestServerOptions {
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
/** Milliseconds for a request, and for its answer to be taken. */
const deadline = 15_000;
/** Agents of a cluster keep one connection each. */
const maxConnections = 2_048;
/** Milliseconds that open requests have when the server stops. */
const lastAnswers = 2_000;

/** @throws the error of listening */
export async function serveRest(options: RestServerOptions): Promise<RestServer> {
  const { host, port, log } = options;
  const server = http.createServer(requestLimits, (request, response) => {
    serve(options, request, response).catch((error: unknown) => {
      log.debug({ err: error }, 'a request ended without an answer');
      response.destroy();
    });
  });
  server.maxConnections = maxConnections;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  server.on('error', (error) => log.error({ err: error }, `the port failed: ${describeError(error)}`));
  const close = (): Promise<void> => new Promise((resolve) => void server.close(() => resolve()));
  return {
    address: `${bracketHost(host)}:${(server.address() as AddressInfo).port}`,
    stop: () => stopServers([server], close, lastAnswers),
  };
}

async function serve(
  options: RestServerOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const caller = watchCaller(response);
  const body = await readBytes(request, longestBody);
  const work = (signal: AbortSignal): Promise<HttpAnswer | undefined> =>
    answerTo(options, request, response, body, signal);
  const reason = (): PodwireError =>
    new PodwireError('DEADLINE_EXCEEDED', `the request took longer than ${deadline} ms`);
  const answer = await withDeadline(caller.signal, deadline, work, { reason }).catch(failureAnswer);
  caller.release();
  if (answer === undefined) return;
  logFailure(options.log, request, answer);
  if (response.headersSent) response.destroy();
  else await deliver(response, answer, { deadline, clock: options.clock, connection: 'keep' });
}

/** @returns undefined when the answer of the leader has been handed on */
async function answerTo(
  options: RestServerOptions,
  request: IncomingMessage,
  response: ServerResponse,
  body: Buffer | undefined,
  signal: AbortSignal,
): Promise<HttpAnswer | undefined> {
  if (body === undefined)
    return textAnswer(413, `body must have at most ${longestBody} bytes`, 'REQUEST_TOO_LARGE');
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
