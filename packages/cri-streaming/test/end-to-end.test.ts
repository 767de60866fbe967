/** Our client and our server, over each protocol. */
import crypto from 'node:crypto';
import { once } from 'node:events';
import net from 'node:net';
import { Duplex, PassThrough, Readable, Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isCriError } from '@podwire/cri';
import {
  connectPortForward,
  createStreamingServer,
  openAttach,
  openExec,
  openPortForward,
  type StreamCall,
  type StreamingServer,
  type Transport,
} from '@podwire/cri-streaming';
import { createTestHandlers, readAll } from './handlers.js';

let server: StreamingServer;
let echo: net.Server;
const seen: { call?: StreamCall } = {};

beforeAll(async () => {
  server = await createStreamingServer(createTestHandlers(seen));
  echo = net.createServer({ allowHalfOpen: true }, (socket) =>
    socket.on('error', () => undefined).pipe(socket),
  );
  echo.listen(0, '127.0.0.1');
  await once(echo, 'listening');
});
afterAll(async () => {
  await server.close();
  echo.close();
});

const echoPort = (): number => (echo.address() as net.AddressInfo).port;

interface Run {
  readonly stdin?: Readable;
  readonly tty?: boolean;
  readonly sizes?: AsyncIterable<{ width: number; height: number }>;
  readonly transports?: readonly Transport[];
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
}

async function exec(
  cmd: readonly string[],
  run: Run = {},
): Promise<{ code: number; out: Buffer; err: string }> {
  const out = new PassThrough();
  const err = new PassThrough();
  const tty = run.tty === true;
  const stdin = run.stdin !== undefined;
  const url = server.urlForExec({ containerId: 'c', cmd, tty, stdin, stdout: true, stderr: !tty });
  const texts = Promise.all([readAll(out), readAll(err)]);
  const code = await openExec(url, { ...run, stdout: out, ...(tty ? {} : { stderr: err }) }).finally(() => {
    out.end();
    err.end();
  });
  const [output, errors] = await texts;
  return { code, out: output, err: errors.toString() };
}

const collect = (): { stream: Writable; read: () => string } => {
  let text = '';
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      text += chunk.toString();
      done();
    },
  });
  return { stream, read: () => text };
};

describe.each<Transport>(['websocket', 'spdy'])('over %s', (transport) => {
  const transports = [transport];

  test('output and success', async () => {
    const { code, out, err } = await exec(['echo', 'hello', 'world'], { transports });
    expect([code, out.toString(), err]).toEqual([0, 'hello world\n', '']);
  });

  test.each([1, 137, 255])('exit code %i', async (expected) => {
    expect(await exec(['exit', String(expected)], { transports })).toMatchObject({
      code: expected,
      err: 'bad\n',
    });
  });

  test('a runtime that cannot run it', async () => {
    await expect(exec(['fail'], { transports })).rejects.toSatisfy(
      (error) => isCriError(error, 'UNKNOWN') && error.message.includes('no such container'),
    );
  });

  test('the end of the input reaches the program', async () => {
    const { code, out } = await exec(['cat'], { transports, stdin: Readable.from([Buffer.from('abc')]) });
    expect([code, out.toString()]).toEqual([0, 'abc']);
  });

  test('50 MiB there and back', { tags: ['long'] }, async () => {
    const data = crypto.randomBytes(50 << 20);
    const { out } = await exec(['cat'], { transports, stdin: Readable.from([data]) });
    expect(out.equals(data)).toBe(true);
  });

  test('sizes of the terminal', async () => {
    const sizes = (async function* () {
      yield { width: 80, height: 24 };
      await new Promise((resolve) => setTimeout(resolve, 50));
      yield { width: 132, height: 43 };
    })();
    const { code, out } = await exec(['sizes'], { transports, tty: true, sizes });
    expect([code, out.toString()]).toEqual([0, '80x24;132x43;']);
  });

  test('attach', async () => {
    const { stream, read } = collect();
    const url = server.urlForAttach({
      containerId: 'c',
      tty: false,
      stdin: true,
      stdout: true,
      stderr: false,
    });
    await openAttach(url, { transports, stdin: Readable.from([Buffer.from('typed')]), stdout: stream });
    expect(read()).toBe('typed');
  });

  test('the program is told when its client goes', async () => {
    const going = new AbortController();
    delete seen.call;
    const running = exec(['wait'], { transports, signal: going.signal });
    await expect.poll(() => seen.call).toBeDefined();
    const told = once(seen.call!.signal, 'abort');
    going.abort();
    await expect(running).rejects.toSatisfy((error) => isCriError(error, 'CANCELLED'));
    await told;
  });

  test('a call may last longer than its beginning may', async () => {
    const { code } = await exec(['sleep', '300'], { transports, timeoutMs: 200 });
    expect(code).toBe(0);
  });

  test('a program that ends before its input does', async () => {
    const stdin = new PassThrough();
    stdin.write('first');
    const { code, out } = await exec(['line'], { transports, stdin });
    expect([code, out.toString()]).toEqual([0, 'got first']);
    expect(stdin.destroyed).toBe(false);
  });

  test('a port', async () => {
    const url = server.urlForPortForward({ podSandboxId: 's', port: [echoPort()] });
    const { stream, read } = collect();
    const input = new PassThrough();
    const local = Duplex.from({ readable: input, writable: stream });
    const done = openPortForward(url, echoPort(), local, { transports });
    input.write('ping');
    await expect.poll(read).toBe('ping');
    if (transport === 'websocket') local.destroy();
    else input.end();
    await done;
  });

  test('a port without a listener', async () => {
    const url = server.urlForPortForward({ podSandboxId: 's', port: [1] });
    const local = Duplex.from({ readable: new PassThrough(), writable: collect().stream });
    await expect(openPortForward(url, 1, local, { transports })).rejects.toSatisfy(
      (error) => isCriError(error, 'UNKNOWN') && error.message.includes('ECONNREFUSED'),
    );
  });
});

test('20 connections to a port, over one client connection', async () => {
  const url = server.urlForPortForward({ podSandboxId: 's', port: [] });
  const forwarder = await connectPortForward(url);
  await Promise.all(
    Array.from({ length: 20 }, async () => {
      const data = crypto.randomBytes(1_000_000);
      const out = new PassThrough();
      const received = readAll(out);
      await forwarder.forward(echoPort(), Duplex.from({ readable: Readable.from([data]), writable: out }));
      expect((await received).equals(data)).toBe(true);
    }),
  );
  forwarder.close();
  await forwarder.closed;
});

test('a server that does not answer', async () => {
  const silent = net.createServer().listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as net.AddressInfo;
  for (const transport of ['spdy', 'websocket'] as const) {
    const url = `http://127.0.0.1:${port}/exec/AAAAAAAA`;
    const run = openExec(url, { stdout: collect().stream, transports: [transport], timeoutMs: 100 });
    await expect(run).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' });
  }
  silent.close();
  const run = openExec(`http://127.0.0.1:${port}/exec/AAAAAAAA`, { stdout: collect().stream });
  await expect(run).rejects.toMatchObject({ code: 'UNAVAILABLE' });
});

test('one protocol after the other, where a server refuses the first', async () => {
  const refusing = net.createServer((socket) => {
    socket.once('data', () => socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n'));
  });
  refusing.listen(0, '127.0.0.1');
  await once(refusing, 'listening');
  const { port } = refusing.address() as net.AddressInfo;
  const urls = [
    `http://127.0.0.1:${port}/exec/AAAAAAAA`,
    server.urlForExec({
      containerId: 'c',
      cmd: ['exit', '4'],
      tty: false,
      stdin: false,
      stdout: true,
      stderr: false,
    }),
  ];
  const code = await openExec(() => Promise.resolve(urls.shift()!), { stdout: collect().stream });
  expect(code).toBe(4);
  refusing.close();
});
