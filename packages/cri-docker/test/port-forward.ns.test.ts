/** Port-forward into a namespace of the test's own. What Docker Engine would say of the sandbox is made up. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { after, before, test } from 'node:test';
import { Duplex, PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Family } from '@podwire/addresses';
import { bindAddress, bringLinkUp, openStreamSocket, warmThreadPool } from '@podwire/linux';
import { createTestNamespace, type TestNamespace } from '@podwire/testkit';
import type { SandboxContext } from '../src/context.js';
import { createOwners } from '../src/owners.js';
import { forwardPort } from '../src/streaming/port-forward.js';

const id = `pwt-${process.pid}-forward`;
const loopback = { 4: Buffer.from([127, 0, 0, 1]), 6: Buffer.from(`${'00'.repeat(15)}01`, 'hex') } as const;
const owners = createOwners('/run/service');
const sandbox = {
  Id: id,
  State: { Running: true, Pid: process.pid },
  HostConfig: { NetworkMode: 'none' },
  Config: { Labels: { 'io.kubernetes.docker.type': 'podsandbox', ...owners.label } },
};
const context = {
  docker: { inspectContainer: () => Promise.resolve(sandbox) },
  settings: { netnsDirectory: '/run/netns' },
  owners,
} as unknown as SandboxContext;

let namespace: TestNamespace;

before(async () => {
  await warmThreadPool();
  namespace = createTestNamespace(`podwire-${id}`);
  namespace.inside(() => bringLinkUp('lo'));
});
after(() => namespace.delete());

/** Answers what it hears, or serves as it is told, on this one loopback address of the namespace. */
async function listen(
  family: Family,
  port: number,
  serve: (socket: net.Socket) => void = (socket) => socket.pipe(socket),
): Promise<net.Server> {
  const fd = namespace.inside(() => {
    const made = openStreamSocket(family);
    bindAddress(made, loopback[family], port);
    return made;
  });
  const server = net.createServer(serve).listen({ fd });
  await once(server, 'listening');
  return server;
}

function forward(port: number, input: string): { work: Promise<void>; output: Promise<string> } {
  const [toServer, fromServer] = [new PassThrough(), new PassThrough()];
  toServer.end(input);
  const both = Duplex.from({ readable: toServer, writable: fromServer });
  const { signal } = new AbortController();
  return { work: forwardPort(context, id, port, both, signal), output: text(fromServer) };
}

for (const [family, port] of [
  [4, 7004],
  [6, 7006],
] as const) {
  test(`reaches what listens on loopback of IPv${family} only`, async () => {
    const server = await listen(family, port);
    const { work, output } = forward(port, 'through\n');
    await work;
    assert.equal(await output, 'through\n');
    server.close();
  });
}

test('ends when the server has said all, though the client has not, and leaves no socket behind', async () => {
  const server = await listen(4, 7005, (socket) => socket.end('banner\n'));
  const before = countSockets();
  for (let round = 0; round < 50; round += 1) {
    const heard = new PassThrough();
    const both = Duplex.from({ readable: new PassThrough(), writable: heard });
    await forwardPort(context, id, 7005, both, new AbortController().signal);
    assert.equal(await text(heard), 'banner\n');
  }
  await untilNoMoreSockets(before);
  server.close();
});

test('reports that nothing listens, and leaves no socket behind', async () => {
  const before = countSockets();
  await assert.rejects(
    forwardPort(context, id, 7001, new PassThrough(), new AbortController().signal),
    /port 7001 of the sandbox: nothing listens/,
  );
  await untilNoMoreSockets(before);
});

const countSockets = (): number =>
  process.getActiveResourcesInfo().filter((kind) => kind === 'TCPSocketWrap').length;

/** A socket is closed some turns after it was told to. */
async function untilNoMoreSockets(before: number): Promise<void> {
  for (let turn = 0; turn < 1000 && countSockets() > before; turn += 1) await new Promise(setImmediate);
  assert.equal(countSockets(), before);
}
