/** A server at a unix socket that answers as a test says, with Docker's version call answered already. */
import fs from 'node:fs';
import http from 'node:http';
import type { Socket } from 'node:net';
import os from 'node:os';
import path from 'node:path';

export interface FakeEngine {
  readonly socket: string;
  /** `GET /v1.41/info` and so on, with their bodies. */
  readonly seen: {
    readonly call: string;
    readonly body: string;
    readonly headers: http.IncomingHttpHeaders;
  }[];
  close(): Promise<void>;
}

export type Answer = (response: http.ServerResponse, request: http.IncomingMessage) => void;

export interface FakeOptions {
  readonly version?: object;
  /** By `GET /path` without version and query. */
  readonly answers?: Readonly<Record<string, Answer>>;
  readonly upgrade?: (socket: Socket, request: http.IncomingMessage) => void;
}

export const json =
  (status: number, body: unknown): Answer =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(status === 204 || status === 304 ? undefined : JSON.stringify(body));
  };

export async function startFakeEngine(options: FakeOptions = {}): Promise<FakeEngine> {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'pws-'));
  const socket = path.join(directory, 'engine.sock');
  const version = options.version ?? { Version: '20.10.24', ApiVersion: '1.41', MinAPIVersion: '1.12' };
  const answers: Record<string, Answer> = { 'GET /version': json(200, version), ...options.answers };
  const seen: FakeEngine['seen'] = [];
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      seen.push({ call: `${request.method} ${request.url}`, body, headers: request.headers });
      const key = `${request.method} ${(request.url ?? '').replace(/^\/v[\d.]+/, '').replace(/\?.*/, '')}`;
      (answers[key] ?? json(404, { message: 'page not found' }))(response, request);
    });
  });
  server.on('upgrade', (request, client: Socket) => {
    client.write('HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n');
    options.upgrade?.(client, request);
  });
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  return {
    socket,
    seen,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      fs.rmSync(directory, { recursive: true });
    },
  };
}
