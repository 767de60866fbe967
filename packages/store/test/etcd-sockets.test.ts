/** A member that stands still takes connections all the same: its kernel does. None may stay open once it was given up. */
import net, { type Server, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { Endpoint } from '../src/etcd/endpoints.js';
import { usualTimeouts } from '../src/etcd/options.js';

interface Member {
  readonly endpoint: Endpoint;
  /** Each resolves when the other side has closed the connection for good. */
  readonly gone: Promise<void>[];
}

/** Waits for the kernel's answer to a write on a connection that the other side has closed, and not only ended. */
function untilReset(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.on('error', () => undefined);
    socket.once('close', () => resolve());
    const write = (): void => {
      if (!socket.destroyed) socket.write('x', () => setImmediate(write));
    };
    socket.once('end', write);
  });
}

async function listen(server: Server, accept: (socket: Socket) => void): Promise<Endpoint> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    accept(socket);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as net.AddressInfo;
  const endpoint = new Endpoint(`http://127.0.0.1:${port}`, {}, usualTimeouts);
  onTestFinished(() => {
    endpoint.close();
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return endpoint;
}

async function startSilent(): Promise<Member> {
  const gone: Promise<void>[] = [];
  const server = net.createServer({ allowHalfOpen: true });
  const endpoint = await listen(server, (socket) => {
    socket.resume();
    gone.push(untilReset(socket));
  });
  return { endpoint, gone };
}

test('a connection that a member took without a word is closed when it is given up', async () => {
  const { endpoint, gone } = await startSilent();
  for (let attempt = 0; attempt < 3; attempt += 1)
    await expect(endpoint.connect(50)).rejects.toThrow('the connection was not accepted within');
  expect(gone.length).toBeGreaterThan(0);
  await Promise.all(gone);
});

test('one that the store closes while it is being made is closed too', async () => {
  const { endpoint, gone } = await startSilent();
  const connecting = endpoint.connect(10_000);
  await expect.poll(() => gone.length).toBe(1);
  endpoint.close();
  await expect(connecting).rejects.toThrow('the store is closed');
  await Promise.all(gone);
});
