/** One request from its bytes to its answer: parsing, operation, errors, trace, metrics, log. */
import { type Command, currentVersion, parseRequest, type Request, supportedVersions } from '@podwire/cni';
import { describeError, PodwireError } from '@podwire/errors';
import { compact, withDeadline } from '@podwire/platform';
import { errorLabel, toCniError } from '../errors.js';
import type { Log } from '../log.js';
import type { Metrics } from '../metrics.js';
import type { GiveAnswer, Received } from '../server/connection.js';
import type { PluginRequest } from '../server/framing.js';
import { startTrace, type Trace, type TraceClocks, type TraceLog } from '../trace.js';
import { addEndpoint } from './add.js';
import { checkEndpoint } from './check.js';
import { collectGarbage } from './collect-garbage.js';
import type { Call, EndpointContext } from './context.js';
import { deleteEndpoint } from './delete.js';
import { reportStatus } from './report-status.js';

export interface Service {
  readonly context: EndpointContext;
  readonly traces: TraceLog;
  readonly metrics: Metrics;
  readonly clocks: TraceClocks;
  /** Milliseconds for one request, including the wait for its lock. */
  readonly deadline: number;
}

/** Serves one request; a failure becomes an error answer. Never rejects. */
export async function serveRequest(service: Service, received: Received, answer: GiveAnswer): Promise<void> {
  const { context, traces, metrics, clocks } = service;
  const command = 'request' in received ? variable(received.request, 'CNI_COMMAND') : undefined;
  const parent = 'request' in received ? variable(received.request, 'TRACEPARENT') : undefined;
  const trace = startTrace(compact({ id: traces.nextId(), command: command ?? '', parent }), clocks);
  metrics.requestStarted();
  let version: string | undefined;
  let failure: unknown;
  try {
    if ('error' in received) throw received.error;
    trace.stage('parse');
    const request = parseRequest(received.request.environment, received.request.stdin);
    if ('config' in request) version = request.config.cniVersion;
    await withDeadline(
      undefined,
      service.deadline,
      (signal) => operate(context, request, { signal, trace, answer: (body) => answer(true, body) }),
      { reason: () => deadlineExceeded(service.deadline) },
    );
  } catch (error) {
    failure = error;
    await answerError(error, { command, version, answer, log: context.log });
  }
  const finished =
    failure === undefined ? trace.finish('ok') : trace.finish(errorLabel(failure), describeError(failure));
  traces.add(finished);
  metrics.requestFinished(finished);
  logRequest(context.log, finished, failure);
}

function variable({ environment }: PluginRequest, name: string): string | undefined {
  return environment.findLast(([key]) => key === name)?.[1];
}

const deadlineExceeded = (milliseconds: number): PodwireError =>
  new PodwireError('DEADLINE_EXCEEDED', `the request took longer than ${milliseconds} ms`);

async function operate(context: EndpointContext, request: Request, call: Call): Promise<void> {
  switch (request.command) {
    case 'ADD':
      return addEndpoint(context, request, call);
    case 'DEL':
      return deleteEndpoint(context, request, call);
    case 'CHECK':
      return checkEndpoint(context, request, call);
    case 'GC':
      return collectGarbage(context, request, call);
    case 'STATUS':
      return reportStatus(context, request, call);
    case 'VERSION':
      return call.answer(JSON.stringify({ cniVersion: currentVersion, supportedVersions }));
  }
}

interface Failing {
  readonly command: string | undefined;
  readonly version: string | undefined;
  readonly answer: GiveAnswer;
  readonly log: Log;
}

async function answerError(error: unknown, { command, version, answer, log }: Failing): Promise<void> {
  try {
    // A request that cannot be parsed is answered in the newest version: an error needs the field.
    const body = toCniError(error, command as Command | undefined, version ?? currentVersion);
    await answer(false, JSON.stringify(body));
  } catch (err) {
    log.debug({ err }, 'the plugin is gone; the error was not sent');
  }
}

function logRequest(log: Log, trace: Trace, failure: unknown): void {
  const { id, command, endpoint, pod, parent, duration, result } = trace;
  const facts = { trace: id, command, endpoint, pod, parent, result, ms: Math.round(duration * 1000) / 1000 };
  if (failure === undefined) log.info(facts, 'request');
  else log.warn({ ...facts, err: failure }, 'request failed');
}
