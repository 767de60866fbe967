/** Probes against real servers on loopback. */
import type { Socket } from 'node:net';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { ExecSyncResponse } from '@podwire/cri';
import { afterAll, describe, expect, test } from 'vitest';
import type { ContainerPort, ProbeAction } from '@podwire/pod-spec';
import { performProbe } from '../../src/probes/perform.js';
import { temporaryDirectories } from '../files/temporary.js';
import { closedPort, loopbackServers, makeIdentity } from './servers.js';

const servers = loopbackServers();
const temporary = temporaryDirectories();
const live = new AbortController().signal;
const noRuntime = { execSync: () => Promise.reject(new Error('no runtime')) };

function look(
  action: ProbeAction,
  {
    ports = [],
    address = '127.0.0.1',
    signal = live,
  }: {
    ports?: ContainerPort[];
    address?: string;
    signal?: AbortSignal;
  } = {},
) {
  const target = { action, container: { ports }, containerId: 'id', address, timeoutSeconds: 1 };
  return performProbe(target, noRuntime, signal);
}

/** Resolves also when the connection is reset, which is an error first. */
const closing = (socket: Socket): Promise<unknown> => new Promise((resolve) => socket.once('close', resolve));

type Http = NonNullable<ProbeAction['httpGet']>;
const get = (port: number | string, more: Partial<Http> = {}): ProbeAction => ({
  httpGet: { path: '/', port, scheme: 'HTTP', httpHeaders: [], ...more },
});

describe('HTTP', () => {
  test.each([
    [200, 'success'],
    [204, 'success'],
    [304, 'success'],
    [399, 'success'],
    [400, 'failure'],
    [404, 'failure'],
    [500, 'failure'],
  ])('status %d is %s', async (status, result) => {
    const { port } = await servers.http((_, response) => response.writeHead(status).end('x'.repeat(100_000)));
    expect(await look(get(port))).toEqual({ result, why: `HTTP status ${status}` });
  });

  test('what is sent', async () => {
    let seen: { url?: string | undefined; headers?: object; raw?: string[] } = {};
    const { port } = await servers.http(({ url, headers, rawHeaders }, response) => {
      seen = { url, headers, raw: rawHeaders };
      response.end();
    });
    const httpHeaders = [
      { name: 'Host', value: 'shop.example' },
      { name: 'X-Twice', value: '1' },
      { name: 'X-Twice', value: '2' },
    ];
    await look(get(port, { path: '/healthz?full=1&x=%20', httpHeaders }));
    expect(seen.url).toBe('/healthz?full=1&x=%20');
    expect(seen.headers).toMatchObject({
      host: 'shop.example',
      connection: 'close',
      accept: '*/*',
      'x-twice': '1, 2',
    });
    expect(seen.headers).toHaveProperty('user-agent', expect.stringMatching(/^kube-probe\//));
    await look(
      get(port, {
        path: 'healthz',
        httpHeaders: [
          { name: 'user-agent', value: 'own' },
          { name: 'Accept', value: '' },
        ],
      }),
    );
    expect(seen.url).toBe('/healthz');
    expect(seen.headers).toMatchObject({ 'user-agent': 'own', host: `127.0.0.1:${port}` });
    expect(seen.headers).not.toHaveProperty('accept');
  });

  test('headers that would say something else of the message are left out, or fail', async () => {
    let seen: string[] = [];
    const { port } = await servers.http(({ rawHeaders }, response) => {
      seen = rawHeaders;
      response.end();
    });
    const sent = (name: string, value: string) => look(get(port, { httpHeaders: [{ name, value }] }));
    expect(await sent('Content-Length', '5')).toMatchObject({ result: 'success' });
    expect(await sent('transfer-encoding', 'chunked')).toMatchObject({ result: 'success' });
    expect(await sent('X-Name', 'Grüße')).toMatchObject({ result: 'success' });
    expect(Buffer.from(seen.at(-1)!, 'latin1').toString()).toBe('Grüße');
    expect(await sent('X-Evil', 'a\r\nX-Other: b')).toMatchObject({ result: 'failure' });
    expect(await sent('X Evil', 'a')).toMatchObject({ result: 'failure' });
  });

  test('a port by name, and another host', async () => {
    const { port } = await servers.http((_, response) => response.end());
    const ports: ContainerPort[] = [{ name: 'web', containerPort: port, protocol: 'TCP' }];
    expect(await look(get('web'), { ports })).toMatchObject({ result: 'success' });
    expect(await look(get('other'), { ports })).toEqual({
      result: 'unknown',
      why: 'the container has no port other',
    });
    expect(await look(get(port, { host: '127.0.0.1' }), { address: '192.0.2.1' })).toMatchObject({
      result: 'success',
    });
  });

  test('IPv6', async () => {
    const { port } = await servers.http((_, response) => response.end(), '::1');
    expect(await look(get(port), { address: '::1' })).toMatchObject({ result: 'success' });
  });

  test('redirects are followed on the host, and only there', async () => {
    const asked: (string | undefined)[] = [];
    const other = await servers.http(({ url }, response) => {
      asked.push(`other${url}`);
      response.writeHead(500).end();
    }, '127.0.0.2');
    const { port } = await servers.http(({ url }, response) => {
      asked.push(url);
      if (url === '/away') response.writeHead(302, { location: `http://127.0.0.2:${other.port}/x` });
      else if (url === '/first') response.writeHead(301, { location: 'second' });
      else if (url === '/second') response.writeHead(307, { location: '/broken' });
      else if (url === '/loop') response.writeHead(302, { location: '/loop' });
      else if (url === '/odd') response.writeHead(302, { location: 'file:///etc/passwd' });
      else response.writeHead(503);
      response.end();
    });
    expect(await look(get(port, { path: '/first' }))).toEqual({ result: 'failure', why: 'HTTP status 503' });
    expect(await look(get(port, { path: '/away' }))).toMatchObject({
      result: 'success',
      why: expect.stringContaining('127.0.0.2') as string,
    });
    expect(await look(get(port, { path: '/odd' }))).toMatchObject({ result: 'success' });
    expect(asked).toEqual(['/first', '/second', '/broken', '/away', '/odd']);
    expect(await look(get(port, { path: '/loop' }))).toEqual({
      result: 'failure',
      why: 'more than 10 redirects',
    });
  });

  test('certificates are not verified', async () => {
    const identity = makeIdentity(temporary());
    const { port } = await servers.https((_, response) => response.end(), identity);
    expect(await look(get(port, { scheme: 'HTTPS' }))).toMatchObject({ result: 'success' });
    expect(await look(get(port, { scheme: 'HTTP' }))).toMatchObject({ result: 'failure' });
  });

  test.each([
    ['nothing that is HTTP', (socket: Socket) => socket.end('hello\n')],
    ['nothing at all', (socket: Socket) => socket.destroy()],
  ])('an answer that is %s is a failure', async (_, answer) => {
    const { port } = await servers.tcp(answer);
    expect(await look(get(port))).toMatchObject({ result: 'failure' });
  });

  test('a refused connection is a failure; so is an impossible path', async () => {
    expect(await look(get(await closedPort()))).toMatchObject({
      result: 'failure',
      why: expect.stringContaining('ECONNREFUSED') as string,
    });
    expect(await look(get(1, { host: 'not a host' }))).toMatchObject({ result: 'failure' });
  });

  test('one that never answers is given up when it is told to, without a connection left', async () => {
    let gone: Promise<unknown> | undefined;
    const abort = new AbortController();
    const { port } = await servers.http(({ socket }) => {
      gone = closing(socket);
      abort.abort(new Error('enough'));
    });
    await expect(look(get(port), { signal: abort.signal })).rejects.toThrow('enough');
    expect(gone).toBeDefined();
    await gone;
  });

  test('of a body that never ends, 10 KiB are waited for', async () => {
    let gone: Promise<unknown> | undefined;
    const { port } = await servers.http(({ socket }, response) => {
      gone = closing(socket);
      response.writeHead(200);
      response.write('and so on '.repeat(1024));
    });
    expect(await look(get(port))).toMatchObject({ result: 'success' });
    expect(gone).toBeDefined();
    await gone;
  });
});

describe('TCP', () => {
  test('a connection that is made is enough', async () => {
    const { port } = await servers.tcp();
    expect(await look({ tcpSocket: { port } })).toMatchObject({ result: 'success' });
    expect(await look({ tcpSocket: { port, host: '127.0.0.1' } }, { address: '192.0.2.1' })).toMatchObject({
      result: 'success',
    });
    const ports: ContainerPort[] = [{ name: 'db', containerPort: port, protocol: 'TCP' }];
    expect(await look({ tcpSocket: { port: 'db' } }, { ports })).toMatchObject({ result: 'success' });
    expect(await look({ tcpSocket: { port: 'no' } }, { ports })).toMatchObject({ result: 'unknown' });
  });

  test('a refused connection is a failure', async () => {
    const outcome = await look({ tcpSocket: { port: await closedPort() } });
    expect(outcome).toMatchObject({
      result: 'failure',
      why: expect.stringContaining('ECONNREFUSED') as string,
    });
  });

  test('is not begun when it is too late', async () => {
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(look({ tcpSocket: { port: 1 } }, { signal })).rejects.toThrow('enough');
  });
});

describe('gRPC', () => {
  const asked: string[] = [];
  const bytes = (status: number) => (status === 0 ? Buffer.alloc(0) : Buffer.of(8, status));
  const statuses: Record<string, number> = { '': 1, up: 1, down: 2, unsure: 0, unheard: 3 };
  const health = {
    Check: {
      path: '/grpc.health.v1.Health/Check',
      requestStream: false,
      responseStream: false,
      requestSerialize: (value: Buffer) => value,
      requestDeserialize: (value: Buffer) => value,
      responseSerialize: (value: Buffer) => value,
      responseDeserialize: (value: Buffer) => value,
    },
  };
  const running: Server[] = [];
  afterAll(() => running.forEach((server) => server.forceShutdown()));

  async function serve(withHealth = true, host = '127.0.0.1'): Promise<number> {
    const server = new Server();
    running.push(server);
    if (withHealth) {
      server.addService(health, {
        Check: (
          { request }: { request: Buffer },
          answer: (error: null | { code: number; details: string }, value?: Buffer) => void,
        ) => {
          // Field 1 of the request, a string, by its own length.
          const service = request.subarray(2, 2 + (request[1] ?? 0)).toString();
          asked.push(service);
          if (service === 'silent') return;
          const status = statuses[service];
          if (status === undefined) answer({ code: 5, details: 'never heard of it' });
          else answer(null, bytes(status));
        },
      });
    }
    return new Promise((resolve, reject) => {
      const address = host.includes(':') ? `[${host}]:0` : `${host}:0`;
      server.bindAsync(address, ServerCredentials.createInsecure(), (error, port) =>
        error ? reject(error) : resolve(port),
      );
    });
  }

  test.each([
    ['', 'success', 'ok'],
    ['up', 'success', 'ok'],
    ['down', 'failure', 'the service says NOT_SERVING'],
    ['unsure', 'failure', 'the service says UNKNOWN'],
    ['unheard', 'failure', 'the service says SERVICE_UNKNOWN'],
    ['nobody', 'failure', expect.stringContaining('never heard of it') as string],
  ])('service %j is %s', async (service, result, why) => {
    const port = await serve();
    expect(await look({ grpc: { port, service } })).toEqual({ result, why });
    expect(asked.at(-1)).toBe(service);
  });

  test('over IPv6', async () => {
    expect(
      await look({ grpc: { port: await serve(true, '::1'), service: '' } }, { address: '::1' }),
    ).toMatchObject({ result: 'success' });
  });

  test('a server without health, and none at all, are failures', async () => {
    const outcome = await look({ grpc: { port: await serve(false), service: '' } });
    expect(outcome).toMatchObject({
      result: 'failure',
      why: expect.stringContaining('UNIMPLEMENTED') as string,
    });
    expect(await look({ grpc: { port: await closedPort(), service: '' } })).toMatchObject({
      result: 'failure',
    });
  });

  test('one that never answers is given up when it is told to', async () => {
    const abort = new AbortController();
    const port = await serve();
    const outcome = look({ grpc: { port, service: 'silent' } }, { signal: abort.signal });
    await expect.poll(() => asked.at(-1)).toBe('silent');
    abort.abort(new Error('enough'));
    await expect(outcome).rejects.toThrow('enough');
  });
});

describe('programs', () => {
  test('are told their time, and their output is kept short', async () => {
    const requests: object[] = [];
    const runtime = {
      execSync: (request: object) => {
        requests.push(request);
        return Promise.resolve(
          ExecSyncResponse.fromPartial({ exitCode: 7, stdout: Buffer.from('x'.repeat(5000)) }),
        );
      },
    };
    const target = {
      action: { exec: { command: ['a', 'b'] } },
      container: { ports: [] },
      containerId: 'id',
      address: '',
      timeoutSeconds: 9,
    };
    const { result, why } = await performProbe(target, runtime, live);
    expect(requests).toEqual([{ containerId: 'id', cmd: ['a', 'b'], timeout: 9n }]);
    expect(result).toBe('failure');
    expect(why).toBe(`exit code 7: ${'x'.repeat(1024)}`);
  });
});
