/** One request from its bytes to its answer. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describeError, PodwireError } from '@podwire/errors';
import { deliver, type HttpAnswer, readBytes, watchCaller } from '@podwire/local-api';
import { type Clock, type Log, withDeadline } from '@podwire/platform';
import { type CniRequest, maxRequestBytes, type Operation, readCniRequest } from './request.js';
import { type CniResponse, errorResponse, renderCniResponse } from './response.js';

/** Carry out requests of the plugin. The signal aborts when the plugin has gone, or when the deadline is over. */
export interface KubeOvnHandlers {
  /** Attaches a pod. @throws PodwireError REQUEST_INVALID for faults of the caller; others are of the node */
  readonly add: (request: CniRequest, signal: AbortSignal) => Promise<CniResponse>;
  /** Detaches a pod; one that is not there is detached. */
  readonly del: (request: CniRequest, signal: AbortSignal) => Promise<void>;
}

export interface ServeOptions {
  readonly handlers: KubeOvnHandlers;
  /** True once the server stops: connections are not kept then. */
  readonly isStopping: () => boolean;
  /** Milliseconds for the handler, and again for the answer to be taken. */
  readonly deadline: number;
  readonly clock: Pick<Clock, 'now' | 'elapsed'>;
  readonly log: Log;
}

/** Serves one request; a failure becomes an answer. @throws PodwireError CALLER_GONE */
export async function serveRequest(
  options: ServeOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const caller = watchCaller(response);
  const answer = await answerTo(options, request, caller.signal);
  caller.release();
  const { deadline, clock, isStopping } = options;
  await deliver(response, answer, { deadline, clock, connection: isStopping() ? 'close' : 'keep' });
}

const paths: ReadonlyMap<string, Operation> = new Map([
  ['/api/v1/add', 'add'],
  ['/api/v1/del', 'del'],
]);

async function answerTo(
  options: ServeOptions,
  incoming: IncomingMessage,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  const { method, url = '' } = incoming;
  const operation = paths.get(url.split('?')[0] ?? '');
  const body = await readBytes(incoming, maxRequestBytes);
  if (operation === undefined) return plainAnswer(404, '404: Page Not Found');
  if (method !== 'POST') return plainAnswer(405, '405: Method Not Allowed');
  try {
    if (body === undefined) throw tooLarge(operation);
    return await carryOut(options, operation, readCniRequest(body, operation), signal);
  } catch (error) {
    options.log.warn({ operation, err: error }, 'a request of the Kube-OVN plugin failed');
    return answerWith(statusOf(error), errorResponse(describeFailure(error)));
  }
}

const tooLarge = (operation: Operation): PodwireError =>
  new PodwireError(
    'REQUEST_TOO_LARGE',
    `parse ${operation} request failed it is larger than ${maxRequestBytes} bytes`,
  );

async function carryOut(
  { handlers, deadline, clock, log }: ServeOptions,
  operation: Operation,
  request: CniRequest,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  const started = clock.elapsed();
  const facts = {
    operation,
    containerId: request.containerId,
    pod: `${request.podNamespace}/${request.podName}`,
  };
  const work = async (either: AbortSignal): Promise<HttpAnswer> => {
    if (operation === 'add') return answerWith(200, await handlers.add(request, either));
    await handlers.del(request, either);
    return { status: 204, headers: [], text: '' };
  };
  const answer = await withDeadline(signal, deadline, work, {
    reason: () => new PodwireError('DEADLINE_EXCEEDED', `the request took longer than ${deadline} ms`),
  });
  log.debug({ ...facts, ms: Math.round(clock.elapsed() - started) }, 'answered the Kube-OVN plugin');
  return answer;
}

const answerWith = (status: number, response: CniResponse): HttpAnswer => ({
  status,
  headers: ['Content-Type', 'application/json'],
  text: renderCniResponse(response),
});

const plainAnswer = (status: number, text: string): HttpAnswer => ({
  status,
  headers: ['Content-Type', 'text/plain; charset=utf-8'],
  text,
});

/** 400 is for faults of the caller. */
function statusOf(error: unknown): 400 | 500 {
  const code = error instanceof PodwireError ? error.code : undefined;
  return code === 'REQUEST_INVALID' || code === 'REQUEST_TOO_LARGE' ? 400 : 500;
}

/** The protocol carries no code, so a text begins with that of Podwire. Faults of a request begin as the original's. */
function describeFailure(error: unknown): string {
  const text = describeError(error);
  return error instanceof PodwireError && statusOf(error) === 500 ? `${error.code}: ${text}` : text;
}
