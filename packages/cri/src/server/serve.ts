import net from 'node:net';
import type { Server } from '@grpc/grpc-js';
import { CriError } from '../error.js';
import { type ApiVersion, apiVersions, encodeMessage, maxMessageBytes, methods, pathOf } from '../methods.js';
import type { CriRuntime, StreamingCalls } from '../services.js';
import { repairConnection } from './authority/connection.js';
import { type HandlerContext, type OpenCalls, streamHandler, unaryHandler } from './handlers.js';
import { leaveResetStreamsOut } from './reset-streams.js';
import { listenOn } from './socket.js';

export interface ServeOptions {
  /** Path of the unix socket. */
  readonly socket: string;
  /** Answers Exec, Attach and PortForward in the runtime's place. */
  readonly streaming?: StreamingCalls;
  /** Both, by default. */
  readonly apiVersions?: readonly ApiVersion[];
}

export interface CriServer {
  readonly socket: string;
  /**
   * Takes no more calls and ends streams of events at once; other calls have `graceMs` (5 s by default) to end before
   * they are aborted. Then the socket's file is gone. Later calls wait for the same end.
   */
  close(graceMs?: number): Promise<void>;
}

/**
 * Serves a runtime over gRPC, in both versions of the interface with the same methods, to root and the server's own user.
 * @throws CriError ALREADY_EXISTS when another server listens on the socket, FAILED_PRECONDITION when its place cannot be used
 */
export async function serveCri(runtime: CriRuntime, options: ServeOptions): Promise<CriServer> {
  const { socket } = options;
  const grpc = await import('@grpc/grpc-js');
  const server = new grpc.Server({
    'grpc.max_receive_message_length': maxMessageBytes,
    'grpc.max_send_message_length': maxMessageBytes,
    'grpc.enable_channelz': 0,
  });
  const calls: OpenCalls = { all: new Set(), streams: new Set() };
  for (const version of options.apiVersions ?? apiVersions)
    register(server, { runtime, streaming: options.streaming, version, calls });
  leaveResetStreamsOut(server);
  const injector = server.createConnectionInjector(grpc.ServerCredentials.createInsecure());
  const connections = new Set<net.Socket>();
  const listener = net.createServer();
  const mayBeServed = await listenOn(listener, socket);
  listener.on('connection', (connection) => {
    if (!mayBeServed(connection)) return void connection.destroy();
    connections.add(connection);
    connection.once('close', () => connections.delete(connection));
    injector.injectConnection(repairConnection(connection));
  });
  let closed: Promise<void> | undefined;
  const parts = { listener, connections, server, calls };
  return { socket, close: (graceMs = 5000) => (closed ??= close(parts, graceMs)) };
}

interface Parts {
  readonly listener: net.Server;
  readonly connections: ReadonlySet<net.Socket>;
  readonly server: Server;
  readonly calls: OpenCalls;
}

function register(server: Server, context: HandlerContext): void {
  for (const method of Object.values(methods)) {
    const handler = method.isStream ? streamHandler(context, method) : unaryHandler(context, method);
    server.register(
      pathOf(method, context.version),
      handler,
      (message: unknown) => encodeMessage(method.response, message),
      (bytes) => method.request.decode(bytes),
      method.isStream ? 'serverStream' : 'unary',
    );
  }
}

async function close({ listener, connections, server, calls }: Parts, graceMs: number): Promise<void> {
  const stopped = new Promise((resolve) => listener.close(resolve));
  const why = new CriError('UNAVAILABLE', 'the server is closing');
  for (const stream of calls.streams) stream.abort(why);
  const ended = new Promise<void>((resolve) => server.tryShutdown(() => resolve()));
  await atMost(graceMs, ended);
  for (const call of calls.all) call.abort(why);
  await atMost(finalFramesMs, ended);
  server.forceShutdown();
  await atMost(finalFramesMs, stopped);
  // A client that hears nothing, such as a process that is stopped, does not end its half either.
  for (const connection of connections) connection.destroy();
  await stopped;
}

/** For the answers of calls that were aborted. */
const finalFramesMs = 200;

async function atMost(milliseconds: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => (timer = setTimeout(resolve, milliseconds)));
  await Promise.race([work, over]);
  clearTimeout(timer);
}
