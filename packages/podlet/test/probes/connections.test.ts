/** How probes end their connections, and what they speak on them. */
import type { ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import type { ProbeAction } from '@podwire/pod-spec';
import { performProbe } from '../../src/probes/perform.js';
import { temporaryDirectories } from '../files/temporary.js';
import { countConnections, countTimeWaits, loopbackServers, makeIdentity } from './servers.js';

const servers = loopbackServers();
const temporary = temporaryDirectories();
const identity = makeIdentity(temporary());
const live = new AbortController().signal;
const noRuntime = { execSync: () => Promise.reject(new Error('no runtime')) };

const look = (action: ProbeAction) =>
  performProbe(
    { action, container: { ports: [] }, containerId: 'id', address: '127.0.0.1', timeoutSeconds: 1 },
    noRuntime,
    live,
  );

const get = (port: number, scheme: 'HTTP' | 'HTTPS', path = '/'): ProbeAction => ({
  httpGet: { path, port, scheme, httpHeaders: [{ name: 'X-Probe', value: '1' }] },
});

/** Answers of gRPC that are one message. */
function answerHealth(stream: ServerHttp2Stream, message: Buffer, trailers: Record<string, string>): void {
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers(trailers));
  stream.end(message);
}

const serving = Buffer.of(0, 0, 0, 0, 2, 0x08, 1);

describe('connections of probes', () => {
  const kinds: readonly (readonly [string, () => Promise<ProbeAction>])[] = [
    ['a TCP probe', async () => ({ tcpSocket: { port: (await servers.tcp()).port } })],
    [
      'an HTTP probe',
      async () => get((await servers.http((_, response) => response.end('ok'))).port, 'HTTP'),
    ],
    [
      'an HTTP probe of a server that does not close',
      async () =>
        get(
          (await servers.tcp((socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'))).port,
          'HTTP',
        ),
    ],
    [
      'an HTTPS probe',
      async () => get((await servers.https((_, response) => response.end('ok'), identity)).port, 'HTTPS'),
    ],
    [
      'an HTTPS probe over HTTP/2',
      async () => get((await servers.http2((_, response) => response.end('ok'), identity)).port, 'HTTPS'),
    ],
    [
      'a gRPC probe',
      async () => {
        const { port } = await servers.plainHttp2((stream) =>
          answerHealth(stream, serving, { 'grpc-status': '0' }),
        );
        return { grpc: { port, service: '' } };
      },
    ],
  ];

  test.each(kinds)('%s leaves no connection in TIME_WAIT', async (_, make) => {
    const action = await make();
    const port = Number((action.tcpSocket ?? action.httpGet ?? action.grpc)!.port);
    for (let time = 0; time < 5; time++) expect(await look(action)).toMatchObject({ result: 'success' });
    await expect.poll(() => countConnections(port)).toBe(0);
    expect(countTimeWaits(port)).toBe(0);
  });
});

describe('an answer that goes on behind what a probe reads', () => {
  const endless = (socket: Socket): void => {
    const timer = setInterval(() => socket.write('more'), 10);
    socket.once('close', () => clearInterval(timer));
  };

  test.each([
    ['behind its length', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'],
    ['in a body without end', `HTTP/1.1 200 OK\r\n\r\n${'x'.repeat(20_000)}`],
  ])('%s does not keep the connection', async (_, head) => {
    const { port } = await servers.tcp((socket) => {
      socket.write(head);
      endless(socket);
    });
    for (let time = 0; time < 3; time++)
      expect(await look(get(port, 'HTTP'))).toMatchObject({ result: 'success' });
    await expect.poll(() => countConnections(port)).toBe(0);
  });

  test('that never comes to an end is left after a second', async () => {
    const { port } = await servers.tcp((socket) => socket.write('HTTP/1.1 204 No Content\r\n\r\n'));
    expect(await look(get(port, 'HTTP'))).toMatchObject({ result: 'success' });
    await expect.poll(() => countConnections(port)).toBe(0);
  });
});

describe('HTTP/2 over TLS', () => {
  test('asks a server that speaks nothing else, with the headers of the manifest', async () => {
    const seen: object[] = [];
    const { port } = await servers.http2(({ headers }, response) => {
      seen.push({ ...headers });
      response.writeHead(204).end();
    }, identity);
    expect(await look(get(port, 'HTTPS', '/healthz?full=1'))).toEqual({
      result: 'success',
      why: 'HTTP status 204',
    });
    expect(seen).toEqual([
      expect.objectContaining({
        ':method': 'GET',
        ':path': '/healthz?full=1',
        ':authority': `127.0.0.1:${port}`,
        'user-agent': expect.stringMatching(/^kube-probe\//) as string,
        'x-probe': '1',
      }),
    ]);
    expect(seen[0]).not.toHaveProperty('connection');
  });

  test('takes headers whose names are those of every object', async () => {
    const { port } = await servers.http2((_, response) => response.end(), identity);
    const httpHeaders = ['constructor', '__proto__'].map((name) => ({ name, value: '1' }));
    const action = { httpGet: { path: '/', port, scheme: 'HTTPS' as const, httpHeaders } };
    expect(await look(action)).toMatchObject({ result: 'success' });
  });

  test('follows redirects and decides by the last status', async () => {
    const { port } = await servers.http2(({ url }, response) => {
      if (url === '/') response.writeHead(302, { location: '/end' });
      else response.writeHead(503);
      response.end();
    }, identity);
    expect(await look(get(port, 'HTTPS'))).toEqual({ result: 'failure', why: 'HTTP status 503' });
  });

  test('fails when the server gives up the request', async () => {
    const { port } = await servers.http2(({ stream }) => stream.close(7), identity);
    expect(await look(get(port, 'HTTPS'))).toMatchObject({ result: 'failure' });
  });
});

describe('gRPC', () => {
  test.each([
    ['a compressed message', Buffer.of(1, 0, 0, 0, 2, 8, 1), { 'grpc-status': '0' }, /without compression/],
    [
      'a message that is cut off',
      Buffer.of(0, 0, 0, 0, 9, 8, 1),
      { 'grpc-status': '0' },
      /without compression/,
    ],
    [
      'an error in words',
      Buffer.alloc(0),
      { 'grpc-status': '14', 'grpc-message': 'not%20yet' },
      /^UNAVAILABLE: not yet$/,
    ],
    ['a code of a later version', Buffer.alloc(0), { 'grpc-status': '99' }, /^gRPC status 99: $/],
  ])('fails for %s', async (_, message, trailers, why) => {
    const { port } = await servers.plainHttp2((stream) => answerHealth(stream, message, trailers));
    expect(await look({ grpc: { port, service: '' } })).toEqual({
      result: 'failure',
      why: expect.stringMatching(why) as string,
    });
  });
});
