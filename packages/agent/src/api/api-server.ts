/** HTTP for people's tools: on a unix socket with everything, and optionally on loopback with health and metrics. */
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { CniError } from '@podwire/cni';
import { describeError, type ErrorCode, PodwireError } from '@podwire/errors';
import type { PeerCredentials } from '@podwire/linux';
import { asPodwireError } from '../errors.js';
import { listenPrivately } from '../server/unix-listener.js';
import { type ApiAnswer, type ApiContext, type ApiHandler, apiRoutes, openRoutes } from './routes.js';

export interface ApiServer {
  stop(): Promise<void>;
}

export interface ApiServerOptions {
  readonly api: ApiContext;
  readonly peerCredentials: (socket: Socket) => PeerCredentials | undefined;
}

const maxBodyBytes = 1 << 20;

/** Serves all routes on a unix socket that only root and the agent's own user may use. @throws as listenPrivately */
export async function startApiServer(
  file: string,
  { api, peerCredentials }: ApiServerOptions,
): Promise<ApiServer> {
  const server = createServer(api, apiRoutes);
  server.on('connection', (socket: Socket) => {
    const peer = peerCredentials(socket);
    if (peer === undefined || (peer.uid !== 0 && peer.uid !== process.getuid?.())) socket.destroy();
  });
  await listenPrivately(server, file);
  return { stop: () => stop(server) };
}

/** Serves health and metrics on a loopback port. @throws PodwireError CONFIG_INVALID when the port cannot be had */
export async function startMetricsServer(
  { host, port }: { host: string; port: number },
  api: ApiContext,
): Promise<ApiServer> {
  const server = createServer(api, openRoutes);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => {
      reject(new PodwireError('CONFIG_INVALID', `metrics.listen: ${cause.message}`, { cause }));
    });
    server.listen(port, host, resolve);
  });
  return { stop: () => stop(server) };
}

function createServer(api: ApiContext, routes: Readonly<Record<string, ApiHandler>>): http.Server {
  const options = { requestTimeout: 10_000, headersTimeout: 5_000, keepAliveTimeout: 5_000 };
  return http.createServer(options, (request, response) => {
    respond(api, routes, request, response).catch((err: unknown) => {
      api.context.log.debug({ err }, 'an API request ended early');
      response.destroy();
    });
  });
}

async function stop(server: http.Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  setTimeout(() => server.closeAllConnections(), 500).unref();
  await closed;
}

async function respond(
  api: ApiContext,
  routes: Readonly<Record<string, ApiHandler>>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    const url = new URL(request.url ?? '/', 'http://agent');
    const { handler, rest } = findRoute(routes, request.method ?? 'GET', url.pathname);
    const body = await readBody(request);
    send(response, await handler(api, { rest, query: url.searchParams, body }));
  } catch (error) {
    sendError(api, response, error);
  }
}

function findRoute(
  routes: Readonly<Record<string, ApiHandler>>,
  method: string,
  pathname: string,
): { handler: ApiHandler; rest: string } {
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

/** A body that is too large is read to its end all the same, or its sender would not get to see the answer. */
async function readBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= maxBodyBytes) chunks.push(chunk);
  }
  if (size > maxBodyBytes) throw new HttpError(413, `the body is larger than ${maxBodyBytes} bytes`);
  return size === 0 ? undefined : parseBody(Buffer.concat(chunks).toString('utf8'));
}

function parseBody(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new HttpError(400, `the body is no JSON: ${describeError(cause)}`);
  }
}

function send(response: ServerResponse, answer: ApiAnswer): void {
  if ('text' in answer) return write(response, 200, answer.contentType, answer.text);
  return write(
    response,
    answer.status ?? 200,
    'application/json',
    `${JSON.stringify(answer.json, plainErrors)}\n`,
  );
}

/** An error inside an answer (a change that failed) as its words. */
function plainErrors(_key: string, value: unknown): unknown {
  return value instanceof Error ? describeError(value) : value;
}

function write(response: ServerResponse, status: number, contentType: string, text: string): void {
  const length = Buffer.byteLength(text);
  response.writeHead(status, { 'content-type': contentType, 'content-length': length }).end(text);
}

const statusOf: Partial<Record<ErrorCode, number>> = {
  ENDPOINT_UNKNOWN: 404,
  REQUEST_INVALID: 400,
  CONFIG_INVALID: 400,
  ADDRESS_IN_USE: 409,
  ADDRESS_NOT_IN_POOL: 409,
  POOL_EXHAUSTED: 409,
  PORT_IN_USE: 409,
  AGENT_NOT_READY: 503,
  DEADLINE_EXCEEDED: 504,
};

function sendError({ context }: ApiContext, response: ServerResponse, error: unknown): void {
  if (response.headersSent) throw error;
  if (error instanceof HttpError) return writeError(response, error.status, { message: error.message });
  if (error instanceof CniError) {
    return writeError(response, 400, { cni: error.code, message: error.message, details: error.details });
  }
  const { code, action, ...coded } = asPodwireError(error);
  if (code === 'INTERNAL') context.log.error({ err: error }, 'API request failed');
  writeError(response, statusOf[code] ?? 500, {
    code,
    message: describeError(error),
    action,
    ...pickDetails(coded),
  });
}

function pickDetails({ details }: { details: object }): object {
  return Object.keys(details).length === 0 ? {} : { details };
}

function writeError(response: ServerResponse, status: number, error: object): void {
  write(response, status, 'application/json', `${JSON.stringify({ error })}\n`);
}
