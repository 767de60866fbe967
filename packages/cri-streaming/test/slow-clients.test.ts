// @module-tag long
/** Clients of the streaming server that do not read, or send what they may not, and what that costs. */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createStreamingServer, type StreamCall, type StreamingServer } from '@podwire/cri-streaming';
import { WebSocket } from 'ws';
import { createHeaderCompressor, encodeFrame, encodeHeaderBlock } from '../src/spdy/index.js';
import { createTestHandlers } from './handlers.js';
import { connectRaw, upgradeHeaders } from './raw.js';

let server: StreamingServer;
const seen: { call?: StreamCall; written: number } = { written: 0 };

beforeEach(async () => {
  seen.written = 0;
  delete seen.call;
  server = await createStreamingServer({
    ...createTestHandlers(),
    exec: async (_id, argv, call) => {
      seen.call = call;
      if (argv[0] === 'wait') {
        await once(call.signal, 'abort');
        return 0;
      }
      const block = Buffer.alloc(65_536);
      while (!call.signal.aborted) {
        if (!call.stdout!.write(block)) await once(call.stdout!, 'drain', { signal: call.signal });
        seen.written += block.length;
      }
      return 0;
    },
  });
});
afterEach(async () => {
  vi.useRealTimers();
  await server.close();
});

const urlFor = (program: string, stdin = false): string =>
  server.urlForExec({ containerId: 'c', cmd: [program], tty: false, stdin, stdout: true, stderr: false });

/** Opens error and stdout as any client does, and then reads nothing. */
async function openAndStop(): Promise<Socket> {
  const socket = await connectRaw(urlFor('flood'), upgradeHeaders());
  socket.pause();
  const pack = createHeaderCompressor();
  for (const [streamId, type] of [
    [1, 'error'],
    [3, 'stdout'],
  ] as const) {
    const block = pack(encodeHeaderBlock(new Map([['streamtype', type]])));
    socket.write(
      encodeFrame({
        type: 'synStream',
        streamId,
        associatedTo: 0,
        priority: 0,
        fin: false,
        unidirectional: false,
        block,
      }),
    );
  }
  return socket;
}

async function openWebSocket(url: string): Promise<WebSocket> {
  const ws = new WebSocket(url.replace('http', 'ws'), ['v4.channel.k8s.io']);
  ws.on('error', () => undefined);
  await once(ws, 'open');
  return ws;
}

/** Waits until a count that has begun to grow grows no more. */
async function waitForStandstill(count: () => number): Promise<void> {
  let last = 0;
  await expect
    .poll(
      () => {
        const still = last > 0 && count() === last;
        last = count();
        return still;
      },
      { interval: 200, timeout: 20_000 },
    )
    .toBe(true);
}

async function expectStandstill(): Promise<void> {
  await waitForStandstill(() => seen.written);
  // The capacity of the sockets of both ends in the kernel; a server that gathers would be far beyond.
  expect(seen.written).toBeLessThan(32 << 20);
}

describe.each<[string, () => Promise<{ leave: () => void }>]>([
  [
    'SPDY',
    async () => {
      const socket = await openAndStop();
      return { leave: () => socket.destroy() };
    },
  ],
  [
    'WebSocket',
    async () => {
      const ws = await openWebSocket(urlFor('flood'));
      ws.pause();
      return { leave: () => ws.terminate() };
    },
  ],
])('over %s', (_name, connect) => {
  test('a program stops when its client does not read, and ends when it goes', async () => {
    const { leave } = await connect();
    await expectStandstill();
    const told = once(seen.call!.signal, 'abort');
    leave();
    await told;
  });

  test('twenty such clients together cost little', async () => {
    const before = process.memoryUsage().rss;
    const clients = await Promise.all(Array.from({ length: 20 }, connect));
    await waitForStandstill(() => seen.written);
    expect(process.memoryUsage().rss - before).toBeLessThan(100 << 20);
    for (const { leave } of clients) leave();
  });
});

describe('a WebSocket', () => {
  test('whose message is too long is closed', async () => {
    const ws = await openWebSocket(urlFor('wait', true));
    ws.send(Buffer.alloc((4 << 20) + 1));
    expect(((await once(ws, 'close')) as [number])[0]).toBe(1009);
    await expect.poll(() => seen.call!.signal.aborted).toBe(true);
  });

  test.each([
    ['that names no channel', Buffer.from([9, 1])],
    ['with another number', Buffer.from([255, 0])],
  ])('with a message %s is closed', async (_name, message) => {
    const ws = await openWebSocket(urlFor('wait', true));
    ws.send(message);
    expect(((await once(ws, 'close')) as [number])[0]).toBe(1002);
  });

  test('that types without end into a program that does not read waits', async () => {
    const ws = await openWebSocket(urlFor('wait', true));
    const message = Buffer.alloc(65_536);
    let sent = 0;
    for (let count = 0; count < 2000; count += 1) ws.send(message, () => (sent += message.length));
    await waitForStandstill(() => sent);
    expect(sent).toBeLessThan(32 << 20);
    ws.terminate();
  });

  test('that goes while it is not read is seen to go', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const ws = await openWebSocket(urlFor('wait', true));
    let sent = 0;
    for (let count = 0; count < 2000; count += 1) ws.send(Buffer.alloc(65_536), () => (sent += 65_536));
    await waitForStandstill(() => sent);
    ws.terminate();
    while (!seen.call!.signal.aborted) {
      vi.advanceTimersByTime(10_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
  });

  test('that pings and reads no answers is dropped', async () => {
    const ws = await openWebSocket(urlFor('wait', true));
    ws.pause();
    await expect.poll(() => seen.call).toBeDefined();
    const ping = Buffer.alloc(125);
    while (!seen.call!.signal.aborted) {
      for (let count = 0; count < 2000; count += 1) ws.ping(ping, true, () => undefined);
      await new Promise((resolve) => setImmediate(resolve));
    }
  });

  test('answers pings otherwise', async () => {
    const ws = await openWebSocket(urlFor('wait', true));
    ws.ping('are you there?');
    expect(String(((await once(ws, 'pong')) as [Buffer])[0])).toBe('are you there?');
    ws.terminate();
  });
});
