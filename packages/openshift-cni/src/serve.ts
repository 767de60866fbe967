/** One request from its bytes to its answer. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type AnyResult, type CniError, readPrintedError, readPrintedResult } from '@podwire/cni';
import { PodwireError } from '@podwire/errors';
import { type HttpAnswer, readBytes, watchCaller } from '@podwire/local-api';
import { type Clock, type Log, withDeadline } from '@podwire/platform';
import { describeFailure, renderResult } from './answer.js';
import { errorAnswer, goodAnswer, routeAnswer, send } from './http.js';
import {
  type DecodeOptions,
  decodeRequest,
  maxRequestBytes,
  type PluginRequest,
  type PodRequest,
} from './request.js';

export interface Call {
  /** Aborts when the plugin has gone, or when the deadline is over. */
  readonly signal: AbortSignal;
  /**
   * Gives the result of an ADD, or nothing for a DEL, once.
   * @throws PodwireError CALLER_GONE when the plugin has not taken it: its runtime knows of no success
   */
  readonly answer: (result?: AnyResult) => Promise<void>;
}

/** Carries out a request and answers it. What it throws before it has answered is the answer. */
export type PodHandler = (request: PodRequest, call: Call) => Promise<void>;

export interface ServeOptions extends DecodeOptions {
  readonly handle: PodHandler;
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
  const refusal = routeAnswer(request);
  if (refusal !== undefined) {
    request.resume();
    return send(response, refusal, options);
  }
  const decoded = await decode(options, request);
  if ('status' in decoded) return send(response, decoded, options);
  await carryOut(options, decoded, response);
}

async function decode(options: ServeOptions, request: IncomingMessage): Promise<PodRequest | HttpAnswer> {
  try {
    return decodeRequest(await readBody(request), options);
  } catch (error) {
    options.log.warn({ err: error }, 'refused a request of the OpenShift plugin');
    const isTooLarge = error instanceof PodwireError && error.code === 'REQUEST_TOO_LARGE';
    return errorAnswer(isTooLarge ? 413 : 400, describeRefusal(error));
  }
}

/** @throws PodwireError REQUEST_TOO_LARGE */
async function readBody(request: IncomingMessage): Promise<Buffer> {
  const body = await readBytes(request, maxRequestBytes);
  if (body !== undefined) return body;
  throw new PodwireError('REQUEST_TOO_LARGE', `the request is larger than ${maxRequestBytes} bytes`);
}

/** Faults of a request are said in the words of the original alone. */
function describeRefusal(error: unknown): string {
  const isOriginal = error instanceof PodwireError && error.code === 'REQUEST_INVALID';
  return isOriginal ? error.message : describeFailure(error);
}

async function carryOut(options: ServeOptions, request: PodRequest, response: ServerResponse): Promise<void> {
  const { deadline, clock, handle } = options;
  const started = clock.elapsed();
  const log = (error?: unknown): void => logRequest(options.log, request, clock.elapsed() - started, error);
  const caller = watchCaller(response);
  const answer = async (result?: AnyResult): Promise<void> => {
    const good = goodAnswer(renderResult(request, result));
    caller.release();
    await send(response, good, options).catch((error: unknown) => {
      caller.abort();
      throw error;
    });
  };
  try {
    await withDeadline(caller.signal, deadline, (signal) => handle(request, { signal, answer }), {
      reason: () => new PodwireError('DEADLINE_EXCEEDED', `the request took longer than ${deadline} ms`),
    });
    if (!response.headersSent)
      throw new PodwireError('INTERNAL', 'the request was carried out and not answered');
    log();
  } catch (error) {
    log(error);
    if (!response.headersSent) await send(response, errorAnswer(400, describeFailure(error)), options);
  }
}

function logRequest(log: Log, { command, containerId, pod }: PodRequest, took: number, error: unknown): void {
  const facts = { command, containerId, pod: `${pod.namespace}/${pod.name}`, ms: Math.round(took) };
  if (error === undefined) log.debug(facts, 'answered the OpenShift plugin');
  else log.warn({ ...facts, err: error }, 'a request of the OpenShift plugin failed');
}

/** A server of CNI requests as the agent's is: gives what the plugin would print, and an exit code of 0 if `ok`. */
export type PluginServer = (
  received: { readonly request: PluginRequest },
  answer: (ok: boolean, body: string) => Promise<void>,
) => Promise<void>;

/** Lets such a server carry out the requests. */
export function handleBy(serve: PluginServer): PodHandler {
  return async ({ plugin, config }, call) => {
    const failures: CniError[] = [];
    await serve({ request: plugin }, async (ok, body) => {
      if (ok) await call.answer(readPrintedResult(body, config.cniVersion));
      else failures.push(readPrintedError(body));
    });
    if (failures[0] !== undefined) throw failures[0];
  };
}
