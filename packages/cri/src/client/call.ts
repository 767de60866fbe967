/** One call over a channel, as a promise or as an async iterable. */
import type { CallOptions as GrpcCallOptions, Client, Metadata } from '@grpc/grpc-js';
import { onAbort } from '@podwire/platform';
import { CriError } from '../error.js';
import { type ApiVersion, encodeMessage, type Method, pathOf } from '../methods.js';
import type { CallOptions } from '../services.js';
import { cancelledCall, toCriError } from './failure.js';
import { defaultTimeoutMs } from './timeouts.js';

/** A channel to one socket. */
export interface Channel {
  readonly client: Client;
  readonly socket: string;
  readonly createMetadata: () => Metadata;
  /** After close. */
  readonly isClosed: () => boolean;
}

/** @throws CriError */
export async function callUnary(
  channel: Channel,
  version: ApiVersion,
  method: Method,
  request: unknown,
  options: CallOptions = {},
): Promise<unknown> {
  const { signal } = options;
  refuseHopeless(channel, method, signal);
  let unsubscribe = (): void => undefined;
  try {
    return await new Promise((resolve, reject) => {
      const call = channel.client.makeUnaryRequest(
        pathOf(method, version),
        (message: unknown) => encodeMessage(method.request, message),
        (bytes) => method.response.decode(bytes),
        request,
        metadataOf(channel, options),
        deadlineOf(method, request, options),
        (error, answer) => (error === null ? resolve(answer) : reject(error)),
      );
      unsubscribe = onAbort(signal, () => call.cancel());
    });
  } catch (error) {
    throw failureOf(channel, method, signal, error);
  } finally {
    unsubscribe();
  }
}

/** Ends without an error when the server ends it. @throws CriError, also when the signal aborts */
export async function* callStream(
  channel: Channel,
  version: ApiVersion,
  method: Method,
  request: unknown,
  options: CallOptions = {},
): AsyncGenerator<unknown, void, undefined> {
  const { signal } = options;
  refuseHopeless(channel, method, signal);
  const call = channel.client.makeServerStreamRequest(
    pathOf(method, version),
    (message: unknown) => encodeMessage(method.request, message),
    (bytes) => method.response.decode(bytes),
    request,
    metadataOf(channel, options),
    deadlineOf(method, request, options),
  );
  // Cancelling makes it fail once more, without a reader.
  call.on('error', () => {});
  const unsubscribe = onAbort(signal, () => call.cancel());
  try {
    yield* call as AsyncIterable<unknown>;
  } catch (error) {
    throw failureOf(channel, method, signal, error);
  } finally {
    unsubscribe();
    call.cancel();
  }
}

function refuseHopeless(channel: Channel, { rpc }: Method, signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw cancelledCall(rpc, channel.socket, signal);
  if (channel.isClosed())
    throw new CriError('UNAVAILABLE', `${rpc} on ${channel.socket}: the connection is closed`);
}

function failureOf(
  { socket }: Channel,
  { rpc }: Method,
  signal: AbortSignal | undefined,
  error: unknown,
): CriError {
  return signal?.aborted === true ? cancelledCall(rpc, socket, signal) : toCriError(rpc, socket, error);
}

function metadataOf({ createMetadata }: Channel, { traceparent }: CallOptions): Metadata {
  const metadata = createMetadata();
  if (traceparent !== undefined) metadata.set('traceparent', traceparent);
  return metadata;
}

function deadlineOf(method: Method, request: unknown, { timeoutMs }: CallOptions): GrpcCallOptions {
  const milliseconds = timeoutMs ?? defaultTimeoutMs(method.name, request);
  // gRPC's deadlines are times of day.
  return milliseconds === undefined ? {} : { deadline: Date.now() + milliseconds };
}
