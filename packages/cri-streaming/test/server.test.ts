/** The server's door: URLs, tokens, and who is let in. */
import crypto from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CriError } from '@podwire/cri';
import {
  createStreamingServer,
  openExec,
  type StreamCall,
  type StreamingServer,
  UpgradeRefusedError,
} from '@podwire/cri-streaming';
import { WebSocket } from 'ws';
import { createTestHandlers, readAll } from './handlers.js';
import {
  connectRaw,
  describeFrames,
  encodeSpdyCommand,
  readToEnd,
  readWebSocketToEnd,
  splitAnswer,
  upgradeHeaders,
  webSocketFrame,
  webSocketHeaders,
} from './raw.js';

let server: StreamingServer;
let now = 0;
const errors: unknown[] = [];
const seen: { call?: StreamCall } = {};

beforeEach(async () => {
  now = 0;
  errors.length = 0;
  delete seen.call;
  server = await createStreamingServer(createTestHandlers(seen), {
    now: () => now,
    maxPendingTokens: 10,
    streamCreationTimeoutMs: 100,
    onError: (error) => errors.push(error),
  });
});
afterEach(() => server.close());

const echo = { containerId: 'c', cmd: ['echo', 'hi'], tty: false, stdin: false, stdout: true, stderr: false };
const urlForEcho = (): string => server.urlForExec(echo);

async function answer(
  url: string,
  headers: readonly string[],
  method?: string,
): Promise<ReturnType<typeof splitAnswer>> {
  return splitAnswer(await readToEnd(await connectRaw(url, headers, method)));
}

async function run(url: string): Promise<string> {
  const out = new PassThrough();
  const text = readAll(out);
  await openExec(url, { stdout: out, transports: ['spdy'] }).finally(() => out.end());
  return (await text).toString();
}

describe('URLs', () => {
  test('have a path for each kind and a token of eight characters, on loopback', () => {
    const token = '[A-Za-z0-9_-]{8}';
    expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(urlForEcho()).toMatch(new RegExp(`^${server.url}/exec/${token}$`));
    expect(server.urlForAttach(echo)).toMatch(new RegExp(`^${server.url}/attach/${token}$`));
    expect(server.urlForPortForward({ podSandboxId: 's', port: [] })).toMatch(
      new RegExp(`^${server.url}/portforward/${token}$`),
    );
  });

  test.each([
    [{ ...echo, tty: true, stderr: true }, /tty and stderr/],
    [{ ...echo, stdout: false }, /one of stdin, stdout and stderr/],
    [{ ...echo, containerId: '' }, /container_id/],
  ])('%j is invalid', (request, message) => {
    for (const ask of [() => server.urlForExec(request), () => server.urlForAttach(request)]) {
      expect(ask).toThrow(
        expect.objectContaining({
          code: 'INVALID_ARGUMENT',
          message: expect.stringMatching(message) as unknown,
        }),
      );
    }
  });

  test.each([0, -1, 65_536, 1.5])('port %d is invalid', (port) => {
    expect(() => server.urlForPortForward({ podSandboxId: 's', port: [port] })).toThrow(CriError);
    expect(() => server.urlForPortForward({ podSandboxId: '', port: [] })).toThrow(/pod_sandbox_id/);
  });

  test('are good once', async () => {
    const url = urlForEcho();
    expect(await run(url)).toBe('hi\n');
    await expect(run(url)).rejects.toThrow(expect.objectContaining({ code: 'NOT_FOUND', status: 404 }));
  });

  test('are good for one of two that come at once', async () => {
    const url = urlForEcho();
    const runs = await Promise.allSettled(Array.from({ length: 5 }, () => run(url)));
    expect(runs.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  test('are good for a minute', async () => {
    const [early, late] = [urlForEcho(), urlForEcho()];
    now = 59_999;
    expect(await run(early)).toBe('hi\n');
    now = 60_000;
    await expect(run(late)).rejects.toBeInstanceOf(UpgradeRefusedError);
  });

  test('are not more than may wait, until some are used or too old', async () => {
    const urls = Array.from({ length: 10 }, urlForEcho);
    expect(new Set(urls).size).toBe(10);
    expect(urlForEcho).toThrow(expect.objectContaining({ code: 'RESOURCE_EXHAUSTED' }));
    await run(urls[3]!);
    urlForEcho();
    expect(urlForEcho).toThrow(CriError);
    now = 60_000;
    urlForEcho();
  });

  test('are never given twice, even where chance would', async () => {
    const fixed = [1, 1, 1, 2];
    const other = await createStreamingServer(createTestHandlers(), {
      randomBytes: (length) => Buffer.alloc(length, fixed.shift() ?? 3),
    });
    expect(new Set([other.urlForExec(echo), other.urlForExec(echo)]).size).toBe(2);
    await other.close();
  });

  test('need a token that is exactly right, and the right kind', async () => {
    const url = urlForEcho();
    const wrong = [
      url.replace('/exec/', '/attach/'),
      url.replace('/exec/', '/EXEC/'),
      url.slice(0, -1),
      `${url}A`,
      `${url}/`,
      url.replace(/.{8}$/, (token) =>
        token === token.toLowerCase() ? token.toUpperCase() : token.toLowerCase(),
      ),
      `${server.url}/exec/${crypto.randomBytes(6).toString('base64url')}`,
      `${server.url}/`,
    ];
    for (const each of wrong) expect((await answer(each, upgradeHeaders())).status).toBe(404);
    expect(await run(url)).toBe('hi\n');
  });
});

describe('a request', () => {
  test.each([
    ['without an upgrade', [], 'GET', 400],
    ['with another upgrade', ['Connection: Upgrade', 'Upgrade: h2c'], 'GET', 400],
    ['without protocols', ['Connection: Upgrade', 'Upgrade: SPDY/3.1'], 'POST', 400],
    ['with unknown protocols', upgradeHeaders('v9.channel.k8s.io'), 'POST', 403],
    ['with another method', upgradeHeaders(), 'PUT', 405],
    ['of a WebSocket by POST', ['Connection: Upgrade', 'Upgrade: websocket'], 'POST', 405],
    [
      'of a WebSocket with unknown protocols',
      ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Protocol: v9.channel.k8s.io'],
      'GET',
      403,
    ],
  ])('%s is refused, and its URL stays good', async (_name, headers, method, status) => {
    const url = urlForEcho();
    expect(
      (await answer(url, [...headers, ...(headers.length === 0 ? ['Connection: close'] : [])], method))
        .status,
    ).toBe(status);
    expect(await run(url)).toBe('hi\n');
  });

  test('with unknown protocols hears which are known', async () => {
    const { head } = await answer(urlForEcho(), upgradeHeaders('v9.channel.k8s.io'));
    expect(head).toContain('X-Accepted-Stream-Protocol-Versions: v4.channel.k8s.io, v3.channel.k8s.io');
  });

  test.each(['v4', 'v3', 'v2'])('may speak %s', async (version) => {
    const url = urlForEcho();
    const socket = await connectRaw(url, upgradeHeaders(`v9.channel.k8s.io, ${version}.channel.k8s.io`));
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    expect(chunk.toString('latin1')).toContain(`X-Stream-Protocol-Version: ${version}.channel.k8s.io\r\n`);
    socket.destroy();
  });

  test('over plain HTTP to nowhere is told so', async () => {
    const [response] = (await once(http.get(`${server.url}/metrics`), 'response')) as [http.IncomingMessage];
    expect(response.statusCode).toBe(404);
    response.resume();
  });
});

test('a client that does not open its streams is dropped', async () => {
  const socket = await connectRaw(urlForEcho(), upgradeHeaders());
  await readToEnd(socket);
  await expect.poll(() => errors).toHaveLength(1);
  expect(String(errors[0])).toMatch(/in time/);
});

test('a WebSocket without a protocol speaks the oldest: text on the error channel, or nothing', async () => {
  const url = server.urlForExec({ ...echo, cmd: ['exit', '2'], stderr: true });
  const ws = new WebSocket(url.replace('http', 'ws'));
  const messages: Buffer[] = [];
  ws.on('message', (data: Buffer) => messages.push(data));
  const [code] = (await once(ws, 'close')) as [number];
  expect(code).toBe(1000);
  expect(ws.protocol).toBe('');
  expect(messages.map((message) => [message[0], message.toString('utf8', 1)])).toEqual([
    [1, ''],
    [2, 'bad\n'],
    [3, 'command terminated with non-zero exit code: exit status 2'],
  ]);
});

test('base64, for those who cannot do bytes', async () => {
  const url = server.urlForExec({ ...echo, cmd: ['line'], stdin: true });
  const ws = new WebSocket(url.replace('http', 'ws'), ['v4.base64.channel.k8s.io']);
  const messages: string[] = [];
  ws.on('message', (data: Buffer) => messages.push(data.toString()));
  await once(ws, 'open');
  ws.send(`0${Buffer.from('abc').toString('base64')}`);
  await once(ws, 'close');
  expect(messages.slice(0, 2)).toEqual(['1', `1${Buffer.from('got abc').toString('base64')}`]);
  expect(Buffer.from(messages[2]!.slice(1), 'base64').toString()).toContain('"status":"Success"');
});

describe('what comes together with the request', () => {
  const urlForLine = (): string => server.urlForExec({ ...echo, cmd: ['line'], stdin: true });

  test('reaches the program over a WebSocket', async () => {
    const early = webSocketFrame(Buffer.from('\0hello'));
    const socket = await connectRaw(urlForLine(), webSocketHeaders(), 'GET', early);
    const { status, body } = splitAnswer(await readWebSocketToEnd(socket));
    expect(status).toBe(101);
    expect(body.toString('latin1')).toContain('got hello');
  });

  test.each([
    ['with reserved bits', webSocketFrame(Buffer.from('x'), 0xf2)],
    [
      'of a length that is too much',
      Buffer.from([0x82, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
    ],
    ['for a channel that is not there', webSocketFrame(Buffer.from([200, 1]))],
  ])('ends the connection and nothing else when it is a frame %s', async (_what, early) => {
    for (const url of [urlForLine(), server.urlForPortForward({ podSandboxId: 's', port: [1] })]) {
      const socket = await connectRaw(url, webSocketHeaders(), 'GET', early);
      // The server has read the frame when its answer comes; this client does not wait for the rest.
      socket.once('data', () => socket.destroy());
      await readToEnd(socket);
    }
    expect(await run(urlForEcho())).toBe('hi\n');
  });

  test('reaches the program over SPDY', async () => {
    const client = encodeSpdyCommand(['error', 'stdin', 'stdout'], 'hello');
    const socket = await connectRaw(urlForLine(), upgradeHeaders(), 'POST', client);
    const { status, body } = splitAnswer(await readToEnd(socket));
    expect(status).toBe(101);
    expect(describeFrames(body)).toContain('data 5 got hello');
  });

  test('ends the connection and nothing else when it is no SPDY', async () => {
    const socket = await connectRaw(
      urlForLine(),
      upgradeHeaders(),
      'POST',
      Buffer.from('GET / HTTP/1.1\r\n\r\n'),
    );
    await readToEnd(socket);
    expect(await run(urlForEcho())).toBe('hi\n');
  });
});

test('it listens on loopback only', async () => {
  for (const host of ['0.0.0.0', '::', '192.0.2.1', 'localhost.example']) {
    await expect(createStreamingServer(createTestHandlers(), { host })).rejects.toThrow(/loopback/);
  }
  const other = await createStreamingServer(createTestHandlers(), { host: '::1' });
  expect(other.url).toMatch(/^http:\/\/\[::1\]:\d+$/);
  await other.close();
});

test('closing ends the calls', async () => {
  const running = run(server.urlForExec({ ...echo, cmd: ['wait'] }));
  const stopped = expect(running).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  await expect.poll(() => seen.call).toBeDefined();
  await server.close();
  expect(seen.call!.signal.aborted).toBe(true);
  await stopped;
});

test('an idle connection is dropped', async () => {
  const idle = await createStreamingServer(createTestHandlers(), { idleTimeoutMs: 50 });
  const url = idle.urlForExec({ ...echo, cmd: ['wait'] });
  await expect(run(url)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  await idle.close();
});
