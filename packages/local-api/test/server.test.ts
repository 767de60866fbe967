import { spawn } from 'node:child_process';
import { getEventListeners, once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import net, { type Socket } from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { type ApiRoutes, listenPrivately, openLocalApi, serveOnSocket } from '../src/index.js';
import { makeDirectory } from './sockets.js';

const peer = { name: 'server', unreachable: 'AGENT_UNREACHABLE' } as const;

async function serve(routes: ApiRoutes<string>, onConnection = (): void => undefined) {
  const socket = path.join(makeDirectory(), 'api.sock');
  const broken: unknown[] = [];
  const credentials = () => {
    onConnection();
    return { pid: 1, uid: 0, gid: 0 };
  };
  const server = await serveOnSocket(socket, credentials, {
    context: 'context',
    routes,
    describeFailure: (error) => ({
      status: 418,
      error: { code: 'TEAPOT', message: (error as Error).message },
    }),
    onBroken: (error) => broken.push(error),
  });
  onTestFinished(() => server.stop());
  return { socket, broken, api: openLocalApi({ socket, peer }) };
}

test('routes get the context, what follows their path, the query and the body', async () => {
  const { api, socket } = await serve({
    'GET /v1/pods/*': (context, { rest, query }) => ({ json: { context, rest, all: query.get('all') } }),
    'DELETE /v1/pods': (_context, { body }) => ({ status: 202, json: { body } }),
  });
  expect(await api.get('/v1/pods/a%2Fb?all=1')).toEqual({ context: 'context', rest: 'a/b', all: '1' });
  expect(await api.delete('/v1/pods', [1])).toEqual({ body: [1] });
  expect(fs.statSync(socket).mode & 0o777).toBe(0o600);
});

test('what a handler throws is described; an unknown path is 404, and what is no path 400', async () => {
  const { api } = await serve({
    'GET /v1/x': () => {
      throw new Error('short and stout');
    },
  });
  await expect(api.get('/v1/x')).rejects.toMatchObject({ status: 418, failure: { code: 'TEAPOT' } });
  await expect(api.get('/v1/y')).rejects.toMatchObject({ status: 404 });
  await expect(api.get('//')).rejects.toMatchObject({ status: 400 });
});

test('lines are sent while they are made, and the source ends when the client disconnects', async () => {
  let stopped: (() => void) | undefined;
  const ended = new Promise<void>((resolve) => (stopped = resolve));
  async function* count(signal: AbortSignal): AsyncIterable<{ n: number }> {
    signal.addEventListener('abort', () => stopped?.(), { once: true });
    for (let n = 0; !signal.aborted; n += 1) {
      yield { n };
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  const { api } = await serve({ 'GET /v1/watch': (_context, { signal }) => ({ lines: count(signal) }) });
  const reading = new AbortController();
  const seen: number[] = [];
  await expect(
    (async () => {
      for await (const { n } of api.lines<{ n: number }>('/v1/watch', reading.signal)) {
        seen.push(n);
        if (n === 3) reading.abort();
      }
    })(),
  ).rejects.toMatchObject({ name: 'AbortError' });
  expect(seen.slice(0, 4)).toEqual([0, 1, 2, 3]);
  await ended;
});

test('a reader that is slower than what comes leaves nothing behind with each line', async () => {
  let most = 0;
  async function* many(signal: AbortSignal): AsyncIterable<string> {
    for (let n = 0; n < 50; n += 1) {
      yield await Promise.resolve('x'.repeat(1 << 18));
      most = Math.max(most, getEventListeners(signal, 'abort').length);
    }
  }
  const { api } = await serve({ 'GET /v1/watch': (_context, { signal }) => ({ lines: many(signal) }) });
  let lines = 0;
  for await (const _line of api.lines('/v1/watch', new AbortController().signal)) lines += 1;
  expect(lines).toBe(50);
  expect(most).toBeLessThanOrEqual(1);
});

test('a server that ends in the middle of its answer is one that cannot be reached', async () => {
  const socket = path.join(makeDirectory(), 'api.sock');
  const server = http.createServer((_request, response) => {
    response.writeHead(200, { 'content-length': 100 });
    response.write('{"half":', () => response.destroy());
  });
  await listenPrivately(server, socket);
  onTestFinished(() => void server.close());
  const api = openLocalApi({ socket, peer });
  const failure = { code: 'AGENT_UNREACHABLE', message: expect.stringContaining(socket) as string };
  await expect(api.get('/v1/x')).rejects.toMatchObject(failure);
  const read = async (): Promise<void> => {
    for await (const _line of api.lines('/v1/watch', new AbortController().signal));
  };
  await expect(read()).rejects.toMatchObject(failure);
});

test('a body that is too large is refused in words', async () => {
  const { api } = await serve({ 'POST /v1/x': () => ({ json: {} }) });
  await expect(api.post('/v1/x', 'x'.repeat(2 << 20))).rejects.toMatchObject({ status: 413 });
});

test(
  'half a request is given up when its client would have, not when Node looks every half minute',
  { tags: ['long'], timeout: 60_000 },
  async () => {
    const { socket } = await serve({});
    const half = await connect(socket);
    half.write('GET /v1/x HTTP/1.1\r\n');
    expect(await readAll(half)).toContain('408');
  },
);

/** Connects, lets the process that serves stand still, and only then sends its request. */
const lateClient = (file: string): string => `
  const socket = require('node:net').connect(${JSON.stringify(file)});
  let answer = '';
  socket.on('connect', () => setTimeout(() => socket.write('GET /v1/x HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n'), 100));
  socket.on('data', (data) => (answer += data));
  socket.on('error', (error) => console.log(error.code));
  socket.on('close', () => console.log(answer));
`;

test(
  'a request is answered that has come while the process stood still for seconds',
  { tags: ['long'], timeout: 60_000 },
  async () => {
    let note = (): void => undefined;
    const connected = new Promise<void>((resolve) => (note = resolve));
    const { socket } = await serve({ 'GET /v1/x': () => ({ json: { here: true } }) }, () => note());
    const client = spawn(process.execPath, ['-e', lateClient(socket)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await connected;
    const until = performance.now() + 6_500;
    while (performance.now() < until);
    expect(await text(client.stdout)).toContain('{"here":true}');
  },
);

test('connections are bounded, and those that end make room', async () => {
  const { api, socket } = await serve({ 'GET /v1/x': () => ({ json: {} }) });
  const open = await Promise.all(Array.from({ length: 128 }, () => connect(socket)));
  await expect(api.get('/v1/x')).rejects.toMatchObject({ code: 'AGENT_UNREACHABLE' });
  for (const each of open) each.destroy();
  await expect.poll(() => api.get('/v1/x').catch(() => undefined)).toEqual({});
});

async function connect(file: string): Promise<Socket> {
  const socket = net.connect(file);
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return socket;
}

async function readAll(socket: Socket): Promise<string> {
  let text = '';
  for await (const chunk of socket as AsyncIterable<Buffer>) text += chunk.toString();
  return text;
}
