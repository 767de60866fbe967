/** The HTTP server of the page. It only reads. */
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describeError, PodwireError } from '@podwire/errors';
import { requestLimits } from '@podwire/local-api';
import { hasCode } from '@podwire/platform';
import type { Collector } from '../collect/collector.js';
import type { Asset } from './assets.js';
import { formatCookie, isAuthorized, isOwnHost, isSame, safetyHeaders } from './guard.js';
import { streamView } from './stream.js';

export interface ServerOptions {
  /** An address of this machine. */
  readonly listen: string;
  /** 0: a free one. */
  readonly port: number;
  readonly token: string;
  readonly assets: ReadonlyMap<string, Asset>;
  readonly collector: Pick<Collector, 'view' | 'subscribe' | 'podDetail' | 'nodeDetail'>;
}

export interface DashboardServer {
  readonly port: number;
  close(): Promise<void>;
}

export const mostViewers = 16;
const mostConnections = 64;
const longestUrl = 2_048;
const limits = { ...requestLimits, maxHeaderSize: 16 << 10 };

/** @throws PodwireError DASHBOARD_FAILED when it cannot listen there */
export async function serveDashboard(options: ServerOptions): Promise<DashboardServer> {
  const context: Context = { ...options, viewers: 0 };
  const server = http.createServer(limits, (request, response) => {
    answer(context, request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else sendText(response, 500, describeError(error));
    });
  });
  server.maxConnections = mostConnections;
  const { port } = await listen(server, options);
  context.port = port;
  return {
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Context extends Omit<ServerOptions, 'port'> {
  port: number;
  viewers: number;
}

function listen(server: http.Server, { listen: host, port }: ServerOptions): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    const refuse = (cause: Error): void => {
      const { why, action } = explainRefusal(cause);
      const message = `the dashboard cannot listen at ${host} port ${port}: ${why}`;
      reject(new PodwireError('DASHBOARD_FAILED', message, { action, details: { host, port } }));
    };
    server.once('error', refuse);
    server.listen(port, host, () => {
      server.off('error', refuse);
      resolve(server.address() as AddressInfo);
    });
  });
}

function explainRefusal(cause: Error): { readonly why: string; readonly action: string | null } {
  if (hasCode(cause, 'EADDRINUSE')) {
    return { why: 'the port is taken', action: 'Leave --port out for a free one.' };
  }
  if (hasCode(cause, 'EADDRNOTAVAIL')) {
    const action = '`ip address` shows those of this machine; without --listen it is loopback.';
    return { why: 'this machine has no such address', action };
  }
  return { why: describeError(cause), action: null };
}

async function answer(context: Context, request: IncomingMessage, response: ServerResponse): Promise<void> {
  for (const [name, value] of Object.entries(safetyHeaders)) response.setHeader(name, value);
  const { method = '', url = '' } = request;
  if (!isOwnHost(request.headers.host, context.listen, context.port)) {
    return sendText(
      response,
      421,
      'this server has another name; open the URL that podwire dashboard printed',
    );
  }
  if (url.length > longestUrl) return sendText(response, 414, 'the URL is too long');
  if (method !== 'GET' && method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD');
    return sendText(response, 405, 'the dashboard only reads');
  }
  const { pathname, searchParams } = new URL(url, 'http://localhost');
  if (pathname === '/healthz') return sendText(response, 200, 'ok');
  const asset = context.assets.get(pathname);
  if (asset !== undefined) return sendAsset(context, searchParams.get('token'), asset, response);
  if (!isAuthorized(request, context.port, context.token)) {
    return sendText(
      response,
      401,
      'the token is missing or wrong; open the URL that podwire dashboard printed',
    );
  }
  return answerData(context, pathname, searchParams, response);
}

/** The page itself is no secret. A visit with the token gets the cookie with which the page asks for data. */
function sendAsset(
  { port, token }: Context,
  given: string | null,
  { type, content }: Asset,
  response: ServerResponse,
): void {
  if (given !== null && !isSame(given, token)) return sendText(response, 401, 'this token is wrong');
  if (given !== null) response.setHeader('set-cookie', formatCookie(port, token));
  response.writeHead(200, { 'content-type': type, 'content-length': content.length }).end(content);
}

async function answerData(
  context: Context,
  pathname: string,
  query: URLSearchParams,
  response: ServerResponse,
): Promise<void> {
  const { collector } = context;
  switch (pathname) {
    case '/api/view':
      return sendJson(response, collector.view);
    case '/api/events':
      return openStream(context, response);
    case '/api/pod':
      return sendFound(response, await collector.podDetail(query.get('id') ?? ''));
    case '/api/node':
      return sendFound(response, await collector.nodeDetail(query.get('name') ?? ''));
    default:
      return sendText(response, 404, 'there is nothing here');
  }
}

function openStream(context: Context, response: ServerResponse): void {
  if (context.viewers >= mostViewers) return sendText(response, 503, 'too many pages are open');
  context.viewers += 1;
  response.writeHead(200, { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' });
  streamView(context.collector, response, () => void (context.viewers -= 1));
}

function sendFound(response: ServerResponse, found: object | undefined): void {
  if (found === undefined) return sendText(response, 404, 'it is not there any more');
  return sendJson(response, found);
}

function sendJson(response: ServerResponse, value: object): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

function sendText(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${text}\n`);
}
