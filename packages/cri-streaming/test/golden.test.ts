/** The very bytes that client-go of Kubernetes 1.20.2 sends, as they were seen between it and this server. */
import { once } from 'node:events';
import net from 'node:net';
import type { Duplex } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createStreamingServer, type StreamingServer } from '@podwire/cri-streaming';
import { createTestHandlers } from './handlers.js';
import { connectRaw, describeFrames, readToEnd, splitAnswer } from './raw.js';

let server: StreamingServer;
beforeAll(async () => {
  server = await createStreamingServer(createTestHandlers());
});
afterAll(() => server.close());

/** remotecommand.Executor with stdin and stdout: error, stdin and stdout are opened, then comes "hello" and the end of stdin. */
const execFrames = [
  '800300010000002900000001000000000000' + '78f9e3c6a7c26260606004a7b392a2d4c45c6851c29a0a0a6800000000ffff',
  '800300010000001700000003000000000000' + 'c22e555c92929907000000ffff',
  '800300010000001900000005000000000000' + 'c22ac5565c92925f5a02000000ffff',
  '000000030000000568656c6c6f' + '0000000301000000',
];

/**
 * portforward.PortForwarder with two connections at once: the error streams of both, the end of the second, its data stream, and the end
 * of the first. The first one's data stream is left out here.
 */
const forwardFrames = [
  '800300010000003f00000001000000000000' +
    '78f9e3c6a7c202253a703a2b294a4dcc851625aca9a0808614cb45a024cc6a626c66062a85388b20f198094adf8c0600000000ffff',
  '800300010000001300000003000000000000' + 'a248b721000000ffff',
  '0000000301000000',
  '800300010000001800000005000000000000' + 'c2aa1b548c2512a119000000ffff',
  '0000000101000000',
];

const hex = (frames: readonly string[]): Buffer => Buffer.from(frames.join(''), 'hex');

test('what it opens', () => {
  expect(describeFrames(hex(execFrames))).toEqual([
    'synStream 1 streamtype=error',
    'synStream 3 streamtype=stdin',
    'synStream 5 streamtype=stdout',
    'data 3 hello',
    'data 3 fin',
  ]);
});

test('what it is answered', async () => {
  const url = server.urlForExec({
    containerId: 'c',
    cmd: ['copy-exit', '3'],
    tty: false,
    stdin: true,
    stdout: true,
    stderr: false,
  });
  const socket = await connectRaw(url, [
    'User-Agent: Go-http-client/1.1',
    'Content-Length: 0',
    'Connection: Upgrade',
    'Upgrade: SPDY/3.1',
    'X-Stream-Protocol-Version: v4.channel.k8s.io',
    'X-Stream-Protocol-Version: v3.channel.k8s.io',
    'X-Stream-Protocol-Version: v2.channel.k8s.io',
    'X-Stream-Protocol-Version: channel.k8s.io',
  ]);
  socket.write(hex(execFrames));
  const { head, body } = splitAnswer(await readToEnd(socket));
  expect(head.split('\r\n')).toEqual([
    'HTTP/1.1 101 Switching Protocols',
    'Connection: Upgrade',
    'Upgrade: SPDY/3.1',
    'X-Stream-Protocol-Version: v4.channel.k8s.io',
  ]);
  const status = {
    metadata: {},
    status: 'Failure',
    message: 'command terminated with non-zero exit code: exit status 3',
    reason: 'NonZeroExitCode',
    details: { causes: [{ reason: 'ExitCode', message: '3' }] },
  };
  expect(describeFrames(body)).toEqual([
    'synReply 1',
    'synReply 3',
    'synReply 5',
    'data 5 hello',
    'data 5 fin',
    `data 1 ${JSON.stringify(status)}`,
    'data 1 fin',
    'rstStream 1 5',
    'rstStream 3 5',
    'rstStream 5 5',
    'goAway 5 0',
  ]);
});

test('a port', async () => {
  const greeting = net.createServer((socket) => socket.end('welcome')).listen(0, '127.0.0.1');
  await once(greeting, 'listening');
  const { port } = greeting.address() as net.AddressInfo;
  const opened = describeFrames(hex(forwardFrames)).filter((frame) => frame.startsWith('synStream'));
  expect(opened.map((frame) => frame.split(' ').sort())).toEqual([
    ['1', 'port=43665', 'requestid=0', 'streamtype=error', 'synStream'],
    ['3', 'port=43665', 'requestid=1', 'streamtype=error', 'synStream'],
    ['5', 'port=43665', 'requestid=1', 'streamtype=data', 'synStream'],
  ]);

  // The recorded port is not ours to listen on: it is exchanged on the way to the port's end.
  const handlers = {
    ...createTestHandlers(),
    portForward: (sandbox: string, asked: number, stream: Duplex, signal: AbortSignal) => {
      expect(asked).toBe(43_665);
      return createTestHandlers().portForward(sandbox, port, stream, signal);
    },
  };
  const forwarding = await createStreamingServer(handlers, { streamCreationTimeoutMs: 100 });
  const url = forwarding.urlForPortForward({ podSandboxId: 's', port: [] });
  const socket = await connectRaw(url, [
    'Connection: Upgrade',
    'Upgrade: SPDY/3.1',
    'X-Stream-Protocol-Version: portforward.k8s.io',
  ]);
  // Then the end of the data, and of the connection.
  socket.write(hex([...forwardFrames, '0000000501000000', '80030007000000080000000000000000']));
  const { body } = splitAnswer(await readToEnd(socket));
  expect(describeFrames(body)).toEqual([
    'synReply 1',
    'synReply 3',
    'synReply 5',
    'data 5 welcome',
    'data 5 fin',
    'data 3 fin',
    'data 1 the other stream of request 0 did not come in time',
    'data 1 fin',
  ]);
  await forwarding.close();
  greeting.close();
});
