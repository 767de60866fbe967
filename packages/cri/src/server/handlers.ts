/** From a gRPC call to a method of the runtime and back. */
import { once } from 'node:events';
import type { handleServerStreamingCall, handleUnaryCall, Metadata } from '@grpc/grpc-js';
import { CriError } from '../error.js';
import type { ApiVersion, Method, MethodName } from '../methods.js';
import type { VersionResponse } from '../messages.js';
import type { CallOptions, CriRuntime, StreamingCalls } from '../services.js';
import { validateRequest } from '../validate/validate.js';
import { toStatus } from './status.js';

/** The calls that are under way, so that closing can end them. */
export interface OpenCalls {
  readonly all: Set<AbortController>;
  readonly streams: Set<AbortController>;
}

export interface HandlerContext {
  readonly runtime: CriRuntime;
  readonly streaming: StreamingCalls | undefined;
  readonly version: ApiVersion;
  readonly calls: OpenCalls;
}

type Invoke<Answer> = (request: unknown, options: CallOptions) => Answer;

/** Bound, because methods may use `this`. */
function invokeOf<Answer>({ runtime, streaming }: HandlerContext, name: MethodName): Invoke<Answer> {
  const isStreaming = name === 'exec' || name === 'attach' || name === 'portForward';
  const target = isStreaming && streaming !== undefined ? streaming : runtime;
  return (target as unknown as Record<MethodName, Invoke<Answer>>)[name].bind(target);
}

export function unaryHandler(context: HandlerContext, method: Method): handleUnaryCall<unknown, unknown> {
  const { version, calls } = context;
  const invoke = invokeOf<Promise<unknown>>(context, method.name);
  const answer = async (request: unknown, options: CallOptions): Promise<unknown> => {
    validateRequest(method.name, request);
    const result = await invoke(request, options);
    // One runtime answers for both versions and does not know by which it was called.
    if (method.name === 'version') return { ...(result as VersionResponse), runtimeApiVersion: version };
    return result;
  };
  return (call, callback) => {
    const controller = follow(call, calls.all);
    answer(call.request, optionsOf(call, controller))
      .then(
        (result) => callback(null, result),
        (error: unknown) => callback(toStatus(error)),
      )
      .finally(() => calls.all.delete(controller));
  };
}

export function streamHandler(
  context: HandlerContext,
  method: Method,
): handleServerStreamingCall<unknown, unknown> {
  const { calls } = context;
  const invoke = invokeOf<AsyncIterable<unknown>>(context, method.name);
  return (call) => {
    const controller = follow(call, calls.streams);
    const { signal } = controller;
    const send = async (): Promise<void> => {
      validateRequest(method.name, call.request);
      for await (const message of invoke(call.request, optionsOf(call, controller))) {
        if (signal.aborted) return;
        if (!call.write(message)) await once(call, 'drain', { signal });
      }
    };
    send()
      .then(
        () => call.end(),
        (error: unknown) => call.emit('error', toStatus(signal.aborted ? signal.reason : error)),
      )
      .finally(() => calls.streams.delete(controller));
  };
}

interface IncomingCall {
  readonly metadata: Metadata;
  getDeadline(): Date | number;
  on(event: 'cancelled', listener: () => void): unknown;
}

/** Aborts with the call: its client has gone, or its deadline is over. */
function follow(call: IncomingCall, open: Set<AbortController>): AbortController {
  const controller = new AbortController();
  open.add(controller);
  call.on('cancelled', () => {
    const isLate = Number(call.getDeadline()) <= Date.now();
    controller.abort(
      isLate
        ? new CriError('DEADLINE_EXCEEDED', 'the deadline of the call is over')
        : new CriError('CANCELLED', 'the client has given the call up'),
    );
  });
  return controller;
}

function optionsOf(call: IncomingCall, { signal }: AbortController): CallOptions {
  const left = Number(call.getDeadline()) - Date.now();
  const [traceparent] = call.metadata.get('traceparent');
  return {
    signal,
    ...(Number.isFinite(left) && { timeoutMs: Math.max(0, left) }),
    ...(typeof traceparent === 'string' && { traceparent }),
  };
}
