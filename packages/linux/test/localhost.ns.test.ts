import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import { after, before, test } from 'node:test';
import { bindAddress, bringLinkUp, connectLocalhost, openStreamSocket, warmThreadPool } from '@podwire/linux';
import { createTestNamespace, type TestNamespace } from '@podwire/testkit';

let namespace: TestNamespace;

before(async () => {
  await warmThreadPool();
  namespace = createTestNamespace(`pwt-${process.pid}-localhost`);
  namespace.inside(() => bringLinkUp('lo'));
});
after(() => namespace.delete());

const connect = (port: number, signal = new AbortController().signal): Promise<net.Socket> =>
  connectLocalhost(namespace.path, port, signal);

/** Listens, and accepts no connection: the holder of the socket does not know that it has one. */
async function listenDeaf(port: number, backlog: number): Promise<() => void> {
  const fd = namespace.inside(() => {
    const made = openStreamSocket(4);
    bindAddress(made, Buffer.from([127, 0, 0, 1]), port);
    return made;
  });
  const server = net.createServer().listen({ fd, backlog });
  await once(server, 'listening');
  const keeper = spawn('sleep', ['600'], { stdio: ['ignore', 'ignore', 'ignore', fd] });
  await once(keeper, 'spawn');
  server.close();
  return () => void keeper.kill('SIGKILL');
}

test('a connection that waits is given up with the signal', async () => {
  const end = await listenDeaf(7001, 1);
  const waiting = [await connect(7001), await connect(7001)];
  const abort = new AbortController();
  const late = connect(7001, abort.signal);
  await new Promise(setImmediate);
  abort.abort(new Error('enough'));
  await assert.rejects(late, /enough/);
  for (const connection of waiting) connection.destroy();
  end();
});

test('a port without a listener is refused', async () => {
  await assert.rejects(connect(7002), { code: 'ECONNREFUSED' });
});
