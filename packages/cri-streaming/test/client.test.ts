/** Our client with servers and outputs that leave it alone. */
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createStreamingServer, openExec, type Transport } from '@podwire/cri-streaming';
import { createTestHandlers } from './handlers.js';

describe('a server that upgrades, and then says nothing', () => {
  let client: Promise<Socket>;
  let server: http.Server;
  let url: string;

  beforeEach(async () => {
    server = http.createServer();
    // Resolves when the client has asked for its first stream.
    client = new Promise((resolve) => {
      server.on('upgrade', (_request, socket: Socket) => {
        socket.on('error', () => undefined).once('data', () => resolve(socket));
        socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n');
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/exec/token`;
  });
  afterEach(async () => {
    (await client).destroy();
    server.close();
  });

  test('is given up by the caller', async () => {
    const abort = new AbortController();
    const call = openExec(url, { stdout: new PassThrough(), transports: ['spdy'], signal: abort.signal });
    const socket = await client;
    abort.abort(new Error('enough'));
    await expect(call).rejects.toMatchObject({ code: 'CANCELLED' });
    await new Promise((resolve) => socket.once('end', resolve).once('close', resolve));
  });

  test('is given up when the time is over', async () => {
    const call = openExec(url, { stdout: new PassThrough(), transports: ['spdy'], timeoutMs: 100 });
    await expect(call).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' });
  });

  test('that then closes is said to be gone', async () => {
    const call = openExec(url, { stdout: new PassThrough(), transports: ['spdy'] });
    (await client).destroy();
    await expect(call).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });
});

test.each<Transport>(['websocket', 'spdy'])('over %s, output that has nowhere to go', async (transport) => {
  const server = await createStreamingServer(createTestHandlers());
  const cmd = ['zeros', String(2 ** 21)];
  const url = server.urlForExec({
    containerId: 'c',
    cmd,
    tty: false,
    stdin: false,
    stdout: true,
    stderr: false,
  });
  const stdout = new PassThrough();
  stdout.destroy();
  await once(stdout, 'close');
  await expect(openExec(url, { stdout, transports: [transport] })).rejects.toMatchObject({
    code: 'CANCELLED',
  });
  await server.close();
});
