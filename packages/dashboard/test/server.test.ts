import http from 'node:http';
import net from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { createToken, isOwnHost, isSame } from '../src/server/guard.js';
import { type DashboardServer, mostViewers, serveDashboard } from '../src/server/server.js';
import { buildView } from '../src/view/index.js';
import type { ViewChange } from '../src/shapes.js';
import { wording } from './support.js';

const token = createToken();
const asset = { type: 'text/html; charset=utf-8', content: Buffer.from('<p>page</p>') };
const round = { title: 't', answers: [], cluster: undefined, clusterFailure: '', report: undefined };
const view = buildView({ ...round, trends: new Map(), drifts: [] }, wording);

const open: DashboardServer[] = [];
const listeners = new Set<(change: ViewChange) => void>();

async function serve(): Promise<DashboardServer> {
  const collector = {
    view,
    subscribe: (listener: (change: ViewChange) => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    podDetail: () => Promise.resolve(undefined),
    nodeDetail: () => Promise.resolve({ resources: [], notes: [] }),
  };
  const assets = new Map([['/', asset]]);
  const server = await serveDashboard({ listen: '127.0.0.1', port: 0, token, assets, collector });
  open.push(server);
  return server;
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
  listeners.clear();
});

interface Answer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
}

function ask(port: number, path: string, options: http.RequestOptions = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = http.request({ host: '127.0.0.1', port, path, agent: false, ...options });
    request.on('error', reject);
    request.on('response', (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => (body += text));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
      );
    });
    request.end();
  });
}

const bearer = { headers: { authorization: `Bearer ${token}` } };

describe('the token', () => {
  test('data need it, health and page do not', async () => {
    const { port } = await serve();
    for (const path of ['/api/view', '/api/events', '/api/pod?id=x', '/api/node?name=x', '/nothing']) {
      expect((await ask(port, path)).status).toBe(401);
    }
    expect((await ask(port, '/healthz')).body).toBe('ok\n');
    expect((await ask(port, '/')).headers['set-cookie']).toBeUndefined();
    expect((await ask(port, '/api/view', bearer)).status).toBe(200);
  });

  test('in the URL it becomes a cookie that scripts and other sites cannot use', async () => {
    const { port } = await serve();
    const [cookie = ''] = (await ask(port, `/?token=${token}`)).headers['set-cookie'] ?? [];
    expect(cookie).toBe(`podwire-${port}=${token}; Path=/; HttpOnly; SameSite=Strict`);
    const headers = { cookie: `other=1; ${cookie.split(';')[0]}` };
    expect(JSON.parse((await ask(port, '/api/view', { headers })).body)).toEqual(view);
  });

  test('a wrong one gets nothing, wherever it stands', async () => {
    const { port } = await serve();
    const wrong = createToken();
    const refused = await ask(port, `/?token=${wrong}`);
    expect([refused.status, refused.headers['set-cookie']]).toEqual([401, undefined]);
    for (const headers of [
      { authorization: `Bearer ${wrong}` },
      { cookie: `podwire-${port}=${wrong}` },
      { cookie: `podwire=${token}` },
    ]) {
      expect((await ask(port, '/api/view', { headers })).status).toBe(401);
    }
    // Only the page takes it from the URL: other URLs end up in histories.
    expect((await ask(port, `/api/view?token=${token}`)).status).toBe(401);
  });

  test('has 256 bits, and is compared whole', () => {
    expect(Buffer.from(token, 'base64url')).toHaveLength(32);
    expect([isSame(token, token), isSame(token.slice(1), token), isSame('', token)]).toEqual([
      true,
      false,
      false,
    ]);
  });
});

describe('names', () => {
  test.each([
    ['127.0.0.1:80', '127.0.0.1', 80, true],
    ['localhost', '127.0.0.1', 80, true],
    ['LOCALHOST:8600', '127.0.0.1', 8600, true],
    ['[::1]:8600', '127.0.0.1', 8600, true],
    ['192.0.2.10:8600', '192.0.2.10', 8600, true],
    ['[2001:DB8::1]:8600', '2001:db8::1', 8600, true],
    ['192.0.2.10:8600', '0.0.0.0', 8600, true],
    ['evil.example:8600', '0.0.0.0', 8600, false],
    ['evil.example:8600', '127.0.0.1', 8600, false],
    ['192.0.2.10:8600', '127.0.0.1', 8600, false],
    ['localhost:8601', '127.0.0.1', 8600, false],
    ['localhost.evil.example:8600', '127.0.0.1', 8600, false],
    ['localhost:8600@evil.example', '127.0.0.1', 8600, false],
    ['', '127.0.0.1', 8600, false],
    [undefined, '127.0.0.1', 8600, false],
  ] as const)('%s at %s port %i: %s', (host, listen, port, expected) => {
    expect(isOwnHost(host, listen, port)).toBe(expected);
  });

  test('a page that made its own name point here gets nothing, the token notwithstanding', async () => {
    const { port } = await serve();
    const headers = { ...bearer.headers, host: `evil.example:${port}` };
    expect((await ask(port, '/api/view', { headers })).status).toBe(421);
    expect((await ask(port, '/', { headers })).status).toBe(421);
  });
});

describe('requests', () => {
  test.each(['POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'])('%s is refused: it only reads', async (method) => {
    const { port } = await serve();
    const { status, headers } = await ask(port, '/api/view', { ...bearer, method });
    expect([status, headers.allow]).toEqual([405, 'GET, HEAD']);
  });

  test.each([
    '/../package.json',
    '/page/../../package.json',
    '/%2e%2e/package.json',
    '/page/%2e%2e%2f%2e%2e%2fx',
    '//etc/passwd',
  ])('%s is no file of the page', async (path) => {
    const { port } = await serve();
    expect((await ask(port, path, bearer)).status).toBe(404);
  });

  test('a URL that is too long is refused', async () => {
    const { port } = await serve();
    expect((await ask(port, `/api/pod?id=${'x'.repeat(3_000)}`, bearer)).status).toBe(414);
  });

  test('what is no HTTP ends the connection, not the server', async () => {
    const { port } = await serve();
    const socket = net.connect(port, '127.0.0.1', () =>
      socket.end('GET http://%%% HTTP/1.1\r\nhost: x\r\n\r\n'),
    );
    await new Promise((resolve) =>
      socket
        .on('close', resolve)
        .on('error', () => undefined)
        .resume(),
    );
    expect((await ask(port, '/healthz')).status).toBe(200);
  });

  test('every answer forbids scripts of others, frames, caches and guessing', async () => {
    const { port } = await serve();
    for (const path of ['/', '/healthz', '/api/view', '/nothing']) {
      const { headers } = await ask(port, path, bearer);
      const policy = headers['content-security-policy'];
      expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/);
      expect(policy).not.toMatch(/unsafe/);
      expect(headers).toMatchObject({
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
      });
    }
  });

  test('a port that is taken is named', async () => {
    const { port } = await serve();
    const again = serveDashboard({
      listen: '127.0.0.1',
      port,
      token,
      assets: new Map(),
      collector: {} as never,
    });
    await expect(again).rejects.toMatchObject({
      code: 'DASHBOARD_FAILED',
      message: expect.stringContaining(`port ${port}`) as string,
    });
  });
});

/** A page that stays open. */
function watch(port: number): Promise<{ status: number; next: () => Promise<string>; close: () => void }> {
  return new Promise((resolve, reject) => {
    const request = http.get({ host: '127.0.0.1', port, path: '/api/events', agent: false, ...bearer });
    request.on('error', reject);
    request.on('response', (response) => {
      const chunks = response.setEncoding('utf8')[Symbol.asyncIterator]() as AsyncIterator<string, string>;
      const next = async (): Promise<string> => (await chunks.next()).value;
      const close = (): void =>
        void (request.on('error', () => undefined), response.on('error', () => undefined), request.destroy());
      resolve({ status: response.statusCode ?? 0, next, close });
    });
  });
}

describe('the stream', () => {
  test('says everything, then what changes', async () => {
    const { port } = await serve();
    const page = await watch(port);
    expect(JSON.parse((await page.next()).replace(/^data: /, ''))).toEqual(view);
    for (const tell of listeners) tell({ title: 'two' });
    expect(await page.next()).toBe('data: {"title":"two"}\n\n');
    page.close();
    await expect.poll(() => listeners.size).toBe(0);
  });

  test('serves a few pages, and others again when one is closed', async () => {
    const { port } = await serve();
    const pages = await Promise.all(Array.from({ length: mostViewers }, () => watch(port)));
    const refused = await watch(port);
    expect(refused.status).toBe(503);
    for (const page of [...pages, refused]) page.close();
    await expect.poll(() => listeners.size).toBe(0);
    const next = await watch(port);
    expect(next.status).toBe(200);
    next.close();
  });
});
