/** Routes over HTTP. Handlers take and return data; reading, sending and failing are done here, once. */
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { describeError } from '@podwire/errors';
import type { PeerCredentials } from '@podwire/linux';
import { onAbort } from '@podwire/platform';
import { listenDurably } from './durable-listener.js';
import { isOwnCaller, readBytes, stopServers } from './http-parts.js';
import { requestLimits } from './patience.js';

export interface ApiRequest {
  /** The part of the path that matched `*`, decoded. */
  readonly rest: string;
  readonly query: URLSearchParams;
  readonly body: unknown;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
}

/** Text goes out as it is; `lines` as one JSON document a line while they come; everything else as JSON. */
export type ApiAnswer =
  | { readonly status?: number; readonly json: unknown }
  | { readonly contentType: string; readonly text: string }
  | { readonly lines: AsyncIterable<unknown> };

export type ApiHandler<Context> = (context: Context, request: ApiRequest) => ApiAnswer | Promise<ApiAnswer>;

/** `GET /v1/pods`; a path that ends in `*` takes what follows. */
export type ApiRoutes<Context> = Readonly<Record<string, ApiHandler<Context>>>;

export interface ApiFailure {
  /** HTTP. */
  readonly status: number;
  /** Sent under `error`. */
  readonly error: object;
}

export interface ApiServerOptions<Context> {
  readonly context: Context;
  readonly routes: ApiRoutes<Context>;
  /** Translates a handler's error for the client. */
  readonly describeFailure: (error: unknown) => ApiFailure;
  /** A request could not be answered at all; the connection is closed. */
  readonly onBroken: (error: unknown) => void;
}

export interface ApiServer {
  stop(): Promise<void>;
}

const maxBodyBytes = 1 << 20;
/** Tools of people and one or two daemons ask here; more at once is a mistake, or an attempt to fill the memory. */
const maxConnections = 128;
/** Milliseconds that a server which stops leaves to answers on their way. */
const lastAnswers = 500;

/**
 * Serves on a unix socket that only root and the server's own user may use, and that comes back when it is deleted.
 * @throws as listenPrivately
 */
export async function serveOnSocket<Context>(
  file: string,
  peerCredentials: (socket: Socket) => PeerCredentials | undefined,
  options: ApiServerOptions<Context>,
): Promise<ApiServer> {
  const servers: http.Server[] = [];
  const create = (): http.Server => {
    const server = createServer(options);
    server.on('connection', (socket: Socket) => {
      if (!isOwnCaller(peerCredentials(socket))) socket.destroy();
    });
    servers.push(server);
    return server;
  };
  const listener = await listenDurably(
    create,
    file,
    (error) => error !== undefined && options.onBroken(error),
  );
  return { stop: () => stopServers(servers, () => listener.close(), lastAnswers) };
}

/** Serves on a TCP port. @throws the error of listening */
export async function serveOnPort<Context>(
  { host, port }: { host: string; port: number },
  options: ApiServerOptions<Context>,
): Promise<ApiServer> {
  const server = createServer(options);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const close = (): Promise<void> => new Promise((resolve) => void server.close(() => resolve()));
  return { stop: () => stopServers([server], close, lastAnswers) };
}

function createServer<Context>(options: ApiServerOptions<Context>): http.Server {
  const server = http.createServer(requestLimits, (request, response) => {
    respond(options, request, response).catch((error: unknown) => {
      options.onBroken(error);
      response.destroy();
    });
  });
  server.maxConnections = maxConnections;
  return server;
}

async function respond<Context>(
  { context, routes, describeFailure }: ApiServerOptions<Context>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const disconnected = new AbortController();
  response.once('close', () => disconnected.abort(new Error('the client disconnected')));
  try {
    const url = parseTarget(request.url ?? '/');
    const { handler, rest } = findRoute(routes, request.method ?? 'GET', url.pathname);
    const body = await readBody(request);
    const answer = await handler(context, {
      rest,
      query: url.searchParams,
      body,
      signal: disconnected.signal,
    });
    await send(response, answer, disconnected.signal);
  } catch (error) {
    if (response.headersSent) throw error;
    const { status, error: shown } =
      error instanceof HttpError
        ? { status: error.status, error: { message: error.message } }
        : describeFailure(error);
    write(response, status, 'application/json', `${JSON.stringify({ error: shown })}\n`);
  }
}

/** `//`, for one, is none. */
function parseTarget(target: string): URL {
  try {
    return new URL(target, 'http://local');
  } catch {
    throw new HttpError(400, `${JSON.stringify(target)} is no path`);
  }
}

function findRoute<Context>(
  routes: ApiRoutes<Context>,
  method: string,
  pathname: string,
): { handler: ApiHandler<Context>; rest: string } {
  const exact = routes[`${method} ${pathname}`];
  if (exact !== undefined) return { handler: exact, rest: '' };
  const pattern = Object.keys(routes).find(
    (route) => route.endsWith('*') && `${method} ${pathname}`.startsWith(route.slice(0, -1)),
  );
  if (pattern === undefined) throw new HttpError(404, `there is no ${method} ${pathname}`);
  return { handler: routes[pattern]!, rest: decode(`${method} ${pathname}`.slice(pattern.length - 1)) };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new HttpError(400, 'the path is not encoded as URIs are');
  }
}

/** Something about HTTP itself. */
class HttpError extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  const bytes = await readBytes(request, maxBodyBytes);
  if (bytes === undefined) throw new HttpError(413, `the body is larger than ${maxBodyBytes} bytes`);
  return bytes.length === 0 ? undefined : parseBody(bytes.toString('utf8'));
}

function parseBody(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new HttpError(400, `the body is no JSON: ${describeError(cause)}`);
  }
}

async function send(response: ServerResponse, answer: ApiAnswer, disconnected: AbortSignal): Promise<void> {
  if ('lines' in answer) return sendLines(response, answer.lines, disconnected);
  if ('text' in answer) return write(response, 200, answer.contentType, answer.text);
  return write(response, answer.status ?? 200, 'application/json', `${toJson(answer.json)}\n`);
}

async function sendLines(
  response: ServerResponse,
  lines: AsyncIterable<unknown>,
  disconnected: AbortSignal,
): Promise<void> {
  response.writeHead(200, { 'content-type': 'application/x-ndjson' });
  response.flushHeaders();
  for await (const line of lines) {
    if (disconnected.aborted) return;
    if (!response.write(`${toJson(line)}\n`)) await untilDrained(response, disconnected);
  }
  response.end();
}

/** Resolves also when the client has disconnected. A stream may last for days: no listener of a line may stay. */
function untilDrained(response: ServerResponse, disconnected: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const goOn = (): void => {
      response.off('drain', goOn);
      unsubscribe();
      resolve();
    };
    response.on('drain', goOn);
    const unsubscribe = onAbort(disconnected, goOn);
  });
}

/** An error inside an answer (a failed change) is sent as its message. */
function toJson(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) => (each instanceof Error ? describeError(each) : each));
}

function write(response: ServerResponse, status: number, contentType: string, text: string): void {
  const length = Buffer.byteLength(text);
  response.writeHead(status, { 'content-type': contentType, 'content-length': length }).end(text);
}
