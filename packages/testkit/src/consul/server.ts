/** A server of Consul's HTTP API in front of the state; loopback only. */
import http from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Consul } from './consul.js';
import { createFaultQueue, type FaultQueue } from './faults.js';
import type { Answer, Asked } from './answers.js';
import { answer } from './routes.js';

export interface ServerOptions {
  /** A free one when absent; the same again for a server that comes back. */
  readonly port?: number;
  readonly tls?: {
    readonly key: string;
    readonly cert: string;
    /** Clients must have a certificate of this authority. */
    readonly ca?: string;
  };
}

export interface ConsulServer {
  readonly url: string;
  readonly port: number;
  readonly faults: FaultQueue;
  /** `METHOD /path?query` of all requests so far. */
  readonly requests: readonly string[];
  /** Cuts all connections. */
  close(): Promise<void>;
}

export async function serveConsul(
  consul: Consul,
  { port = 0, tls }: ServerOptions = {},
): Promise<ConsulServer> {
  const faults = createFaultQueue();
  const requests: string[] = [];
  const handle: http.RequestListener = (request, response) => {
    requests.push(`${request.method} ${request.url}`);
    serve(consul, faults, request, response).catch((error: unknown) => response.destroy(error as Error));
  };
  const server =
    tls === undefined
      ? http.createServer(handle)
      : https.createServer({ ...tls, requestCert: tls.ca !== undefined }, handle);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const bound = (server.address() as AddressInfo).port;
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${bound}`,
    port: bound,
    faults,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function serve(
  consul: Consul,
  faults: FaultQueue,
  request: http.IncomingMessage,
  response: http.ServerResponse,
): Promise<void> {
  const fault = faults.take(`${request.method} ${request.url}`);
  if (fault?.kind === 'hang') return;
  if (fault?.kind === 'cut') return void response.destroy();
  if (fault?.kind === 'answer') return send(response, { status: fault.status, text: fault.text });
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const given = await answer(consul, await readRequest(request), gone.signal);
  if (fault?.kind === 'cut-after') response.destroy();
  else send(response, given);
}

async function readRequest(request: http.IncomingMessage): Promise<Asked> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const url = new URL(request.url ?? '/', 'http://consul');
  return {
    method: request.method ?? 'GET',
    path: decodeURIComponent(url.pathname),
    query: url.searchParams,
    token: request.headers['x-consul-token'] as string | undefined,
    body: Buffer.concat(chunks),
  };
}

function send(response: http.ServerResponse, { status, text, index, filtered }: Answer): void {
  if (index !== undefined) response.setHeader('X-Consul-Index', index);
  if (filtered === true) response.setHeader('X-Consul-Results-Filtered-By-ACLs', 'true');
  response.setHeader('Content-Type', 'application/json');
  response.writeHead(status).end(text);
}
