import crypto from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import { type AddressInfo, isIP, type Socket } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { bracketHost } from '@podwire/addresses';
import { CriError } from '@podwire/cri';
import type { StreamingHandlers } from '../handlers.js';
import { spdyUpgrade, streamProtocolHeader } from '../protocols.js';
import { maxMessageLength } from '../websocket/connection.js';
import { createForward } from './forward.js';
import { negotiate, type Negotiated, type Refusal } from './negotiate.js';
import {
  checkRequest,
  type StreamingAttachRequest,
  type StreamingExecRequest,
  type StreamingPortForwardRequest,
  type StreamingRequest,
} from './requests.js';
import { runCommand } from './run-command.js';
import type { CommandSession } from './session.js';
import { createSharedController } from './signals.js';
import { acceptSpdyCommand } from './spdy-command.js';
import { servePortForwardOverSpdy } from './spdy-port-forward.js';
import { createTokenStore, type TokenStore } from './tokens.js';
import { acceptWebSocketCommand } from './websocket-command.js';
import { servePortForwardOverWebSocket } from './websocket-port-forward.js';

export interface StreamingServerOptions {
  /** A loopback address; 127.0.0.1 when absent. */
  readonly host?: string;
  /** 0, any free one, when absent. */
  readonly port?: number;
  /** milliseconds without a byte either way after which a connection is dropped; 4 h when absent */
  readonly idleTimeoutMs?: number;
  /** milliseconds in which a client must have opened its streams; 30 s when absent */
  readonly streamCreationTimeoutMs?: number;
  /** milliseconds for which a URL is good; 1 min when absent */
  readonly tokenLifetimeMs?: number;
  /** URLs that may wait for their client; 1000 when absent */
  readonly maxPendingTokens?: number;
  /** milliseconds of a clock that never goes back */
  readonly now?: () => number;
  readonly randomBytes?: (length: number) => Buffer;
  /** Hears what went wrong in a call, besides its client. */
  readonly onError?: (error: unknown) => void;
}

/** The URLs that Exec, Attach and PortForward of the CRI answer with, and their server. */
export interface StreamingServer {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  /** @throws CriError INVALID_ARGUMENT, RESOURCE_EXHAUSTED when 1000 URLs wait already */
  urlForExec(request: StreamingExecRequest): string;
  urlForAttach(request: StreamingAttachRequest): string;
  urlForPortForward(request: StreamingPortForwardRequest): string;
  /** Stops listening, ends every call (their signals fire) and drops the connections. */
  close(): Promise<void>;
}

interface Context {
  readonly handlers: StreamingHandlers;
  readonly tokens: TokenStore<StreamingRequest>;
  readonly webSockets: WebSocketServer;
  readonly stopping: AbortSignal;
  readonly idleTimeoutMs: number;
  readonly streamCreationTimeoutMs: number;
  readonly report: (error: unknown) => void;
}

/**
 * Starts the server that exec, attach and port-forward of a runtime travel through: SPDY/3.1 and WebSocket, behind URLs that are
 * good for one minute and one client.
 * @throws CriError INVALID_ARGUMENT where `host` is no loopback address: the URL is all a client needs, so only this machine
 * may see the server
 */
export async function createStreamingServer(
  handlers: StreamingHandlers,
  options: StreamingServerOptions = {},
): Promise<StreamingServer> {
  const { host = '127.0.0.1', port = 0 } = options;
  if (!isLoopback(host))
    throw new CriError('INVALID_ARGUMENT', `the streaming server listens on loopback, not on ${host}`);
  const stop = createSharedController();
  const context = createContext(handlers, options, stop.signal);
  const sockets = new Set<Socket>();
  const server = http.createServer((request, response) => {
    const { status, message } = refusePlain(context, request);
    response.writeHead(status, { 'Content-Type': 'text/plain' }).end(`${message}\n`);
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('upgrade', (request, socket, head) => upgrade(context, request, socket as Socket, head));
  server.listen(port, host);
  await once(server, 'listening');
  const url = `http://${bracketHost(host)}:${(server.address() as AddressInfo).port}`;
  const issue = (request: StreamingRequest): string => {
    checkRequest(request);
    return `${url}/${request.kind}/${context.tokens.issue(request)}`;
  };
  return {
    url,
    urlForExec: (request) => issue({ kind: 'exec', request }),
    urlForAttach: (request) => issue({ kind: 'attach', request }),
    urlForPortForward: (request) => issue({ kind: 'portforward', request }),
    close: async () => {
      stop.abort(new CriError('CANCELLED', 'the streaming server stops'));
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

function createContext(
  handlers: StreamingHandlers,
  options: StreamingServerOptions,
  stopping: AbortSignal,
): Context {
  return {
    handlers,
    stopping,
    tokens: createTokenStore({
      lifetimeMs: options.tokenLifetimeMs ?? 60_000,
      maxPending: options.maxPendingTokens ?? 1000,
      now: options.now ?? (() => performance.now()),
      randomBytes: options.randomBytes ?? crypto.randomBytes,
    }),
    webSockets: new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      autoPong: false,
      maxPayload: maxMessageLength,
    }),
    idleTimeoutMs: options.idleTimeoutMs ?? 4 * 3_600_000,
    streamCreationTimeoutMs: options.streamCreationTimeoutMs ?? 30_000,
    report: options.onError ?? (() => undefined),
  };
}

function upgrade(context: Context, request: http.IncomingMessage, socket: Socket, head: Buffer): void {
  socket.on('error', () => undefined);
  const found = find(context, request);
  if ('status' in found) return refuse(socket, found);
  const negotiated = negotiate(request, found.kind);
  if ('status' in negotiated) return refuse(socket, negotiated);
  // Only now: a client that is refused a protocol may come again with another.
  context.tokens.consume(tokenOf(request).token);
  socket.setNoDelay(true);
  const served =
    negotiated.transport === 'spdy'
      ? serveSpdy(context, found, negotiated, socket, head)
      : serveWebSocket(context, found, negotiated, request, socket, head);
  void served.catch((error: unknown) => {
    if (!context.stopping.aborted) context.report(error);
  });
}

async function serveSpdy(
  context: Context,
  found: StreamingRequest,
  { protocol }: Negotiated,
  socket: Socket,
  head: Buffer,
): Promise<void> {
  socket.write(
    'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n' +
      `Upgrade: ${spdyUpgrade}\r\n${streamProtocolHeader}: ${protocol}\r\n\r\n`,
  );
  if (head.length > 0) socket.unshift(head);
  dropWhenIdle(context, socket);
  if (found.kind === 'portforward') {
    const forward = createForward(
      context.handlers,
      found.request.podSandboxId,
      context.stopping,
      context.report,
    );
    return servePortForwardOverSpdy(socket, forward, context.streamCreationTimeoutMs);
  }
  const session = await acceptSpdyCommand(socket, protocol, found.request, context.streamCreationTimeoutMs);
  return serveCommand(context, found, session);
}

function serveWebSocket(
  context: Context,
  found: StreamingRequest,
  { protocol }: Negotiated,
  request: http.IncomingMessage,
  socket: Socket,
  head: Buffer,
): Promise<void> {
  // `ws` chooses by itself among what the client offers: leave it the one that was chosen.
  if (protocol !== '') request.headers['sec-websocket-protocol'] = protocol;
  return new Promise((resolve, reject) => {
    socket.once('close', () => reject(new Error('the client went during the WebSocket handshake')));
    // Frames may have come together with the request, and `ws` reads them as soon as this callback has returned: what listens
    // to them must be there by then. An error of the first frame without a listener would end the process.
    context.webSockets.handleUpgrade(request, socket, head, (ws) => {
      dropWhenIdle(context, socket);
      resolve(serveOpenWebSocket(context, found, protocol, ws));
    });
  });
}

/** Listens to the WebSocket before it first waits. */
async function serveOpenWebSocket(
  context: Context,
  found: StreamingRequest,
  protocol: string,
  ws: WebSocket,
): Promise<void> {
  if (found.kind !== 'portforward') {
    return serveCommand(context, found, acceptWebSocketCommand(ws, protocol, found.request));
  }
  const { podSandboxId, port } = found.request;
  const forward = createForward(context.handlers, podSandboxId, context.stopping, context.report);
  return servePortForwardOverWebSocket(ws, protocol, port, forward);
}

function serveCommand(
  { handlers, stopping, report }: Context,
  found: Exclude<StreamingRequest, { readonly kind: 'portforward' }>,
  session: CommandSession,
): Promise<void> {
  const { containerId, tty } = found.request;
  return runCommand(session, tty, stopping, report, async (call) => {
    if (found.kind === 'exec') return handlers.exec(containerId, found.request.cmd, call);
    await handlers.attach(containerId, call);
    return 0;
  });
}

/** `ws` switches the timeout off when it takes the socket, so this comes after it. */
function dropWhenIdle({ idleTimeoutMs }: Context, socket: Socket): void {
  socket.setTimeout(idleTimeoutMs, () => socket.destroy());
}

function find(context: Context, request: http.IncomingMessage): StreamingRequest | Refusal {
  if (request.method !== 'GET' && request.method !== 'POST')
    return { status: 405, message: 'use GET or POST' };
  const { kind, token } = tokenOf(request);
  const found = context.tokens.peek(token);
  return found?.kind === kind ? found : { status: 404, message: 'no such stream, or its time is over' };
}

function tokenOf({ url = '' }: http.IncomingMessage): { kind: string; token: string } {
  const match = /^\/(exec|attach|portforward)\/([A-Za-z0-9_-]{8})(?:\?.*)?$/.exec(url);
  return { kind: match?.[1] ?? '', token: match?.[2] ?? '' };
}

function refusePlain(context: Context, request: http.IncomingMessage): Refusal {
  const found = find(context, request);
  if ('status' in found) return found;
  return { status: 400, message: `an upgrade to ${spdyUpgrade} or websocket is needed` };
}

function refuse(socket: Socket, { status, message, headers = {} }: Refusal): void {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(
    `HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\nConnection: close\r\nContent-Type: text/plain\r\n` +
      `Content-Length: ${Buffer.byteLength(message) + 1}\r\n${lines.join('')}\r\n${message}\n`,
  );
}

function isLoopback(host: string): boolean {
  return isIP(host) === 4 ? host.startsWith('127.') : host === '::1';
}
