import { CriError, isCriError } from '../error.js';
import { type ApiVersion, apiVersions, maxMessageBytes, type MethodName, methods } from '../methods.js';
import type { CallOptions, CriRuntime } from '../services.js';
import { callStream, callUnary, type Channel } from './call.js';

export interface ConnectOptions {
  /** Path of a unix socket, also as `unix:///run/containerd/containerd.sock`. */
  readonly socket: string;
  /** The version to speak. By default v1 where the server has it, else v1alpha2. */
  readonly apiVersion?: ApiVersion;
  /** Ends the attempt to connect. */
  readonly signal?: AbortSignal;
  /** For the answer to the first question, in milliseconds; 10 seconds. */
  readonly timeoutMs?: number;
}

/** A runtime behind a socket. A server that went away is connected again by the next call. */
export interface CriConnection extends CriRuntime {
  readonly apiVersion: ApiVersion;
  readonly socket: string;
  /** Ends calls that are under way (CANCELLED or UNAVAILABLE) and lets the socket go. */
  close(): void;
}

/**
 * Connects to a runtime and asks for its version, to learn which version of the interface it speaks.
 * @throws CriError UNAVAILABLE when nothing listens, UNIMPLEMENTED when the server does not speak CRI
 */
export async function connectCri(options: ConnectOptions): Promise<CriConnection> {
  const channel = await openChannel(pathOfSocket(options.socket));
  try {
    const apiVersion = options.apiVersion ?? (await chooseVersion(channel, options));
    return { ...bindCalls(channel, apiVersion), apiVersion, socket: channel.socket, close: channel.close };
  } catch (error) {
    channel.close();
    throw error;
  }
}

function pathOfSocket(socket: string): string {
  const file = socket.replace(/^unix:(\/\/(?=\/))?/, '');
  // sun_path of unix(7) has 108 bytes, the last of them 0.
  if (file === '' || Buffer.byteLength(file) > 107)
    throw new CriError('INVALID_ARGUMENT', `"${file}" cannot be the path of a unix socket`);
  return file;
}

async function openChannel(socket: string): Promise<Channel & { readonly close: () => void }> {
  // Loaded late: half of the package's cost at start, which those who only use messages need not pay.
  const { Client, credentials, Metadata } = await import('@grpc/grpc-js');
  const client = new Client(`unix:${socket}`, credentials.createInsecure(), {
    'grpc.max_receive_message_length': maxMessageBytes,
    'grpc.max_send_message_length': maxMessageBytes,
    'grpc.enable_http_proxy': 0,
    // A runtime that starts again is a matter of moments; the default waits for up to two minutes.
    'grpc.initial_reconnect_backoff_ms': 50,
    'grpc.min_reconnect_backoff_ms': 50,
    'grpc.max_reconnect_backoff_ms': 1000,
    // Else connections outlive `close` in a pool of the whole process.
    'grpc.use_local_subchannel_pool': 1,
    'grpc.enable_channelz': 0,
  });
  let isClosed = false;
  const close = (): void => {
    isClosed = true;
    client.close();
  };
  return { client, socket, createMetadata: () => new Metadata(), isClosed: () => isClosed, close };
}

async function chooseVersion(channel: Channel, options: ConnectOptions): Promise<ApiVersion> {
  const { signal, timeoutMs = 10_000 } = options;
  const callOptions: CallOptions = { timeoutMs, ...(signal !== undefined && { signal }) };
  for (const version of apiVersions) {
    try {
      await callUnary(channel, version, methods.version, { version }, callOptions);
      return version;
    } catch (error) {
      if (!isCriError(error, 'UNIMPLEMENTED')) throw error;
    }
  }
  const message = `${channel.socket} speaks neither of ${apiVersions.join(', ')} of the Container Runtime Interface`;
  throw new CriError('UNIMPLEMENTED', message);
}

/** The table has a method for every name of CriRuntime, with its messages: that is what the cast relies on. */
function bindCalls(channel: Channel, version: ApiVersion): CriRuntime {
  const bind = (name: MethodName) => {
    const method = methods[name];
    const call = method.isStream ? callStream : callUnary;
    return (request: unknown, options?: CallOptions) => call(channel, version, method, request, options);
  };
  const names = Object.keys(methods) as MethodName[];
  return Object.fromEntries(names.map((name) => [name, bind(name)])) as unknown as CriRuntime;
}
