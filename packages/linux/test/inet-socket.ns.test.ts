import assert from 'node:assert/strict';
import dgram from 'node:dgram';
import { once } from 'node:events';
import fs from 'node:fs';
import net, { type AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import type { Family } from '@podwire/addresses';
import {
  bindAddress,
  hasCode,
  openDatagramSocket,
  openIcmpSocket,
  openStreamSocket,
  readLinkMtu,
  readPathMtu,
  receiveFrom,
  warmThreadPool,
} from '@podwire/linux';
import { createTestNamespace, type TestNamespace } from '@podwire/testkit';

/** One process, two namespaces, and not a thread of it lives in either. */
let here: TestNamespace;
let there: TestNamespace;
const addresses = { 4: ['192.0.2.1', '192.0.2.2'], 6: ['2001:db8::1', '2001:db8::2'] } as const;
const mtu = 1400;

before(async () => {
  await warmThreadPool();
  here = createTestNamespace(`pwt-${process.pid}-here`);
  there = createTestNamespace(`pwt-${process.pid}-there`);
  await here.ip(`link add eth0 mtu ${mtu} type veth peer name eth0 mtu ${mtu} netns ${there.name}`);
  for (const [index, side] of [here, there].entries()) {
    await side.ip(
      'link set eth0 up',
      `addr add ${addresses[4][index]}/24 dev eth0`,
      `addr add ${addresses[6][index]}/64 dev eth0 nodad`,
    );
  }
});
after(() => {
  here.delete();
  there.delete();
});

const close = (target: { close(done: () => void): unknown }): Promise<void> =>
  new Promise((resolve) => void target.close(() => resolve()));

/** By descriptor it is bound when the call returns. */
function bindByDescriptor(fd: number, family: Family): dgram.Socket {
  return dgram.createSocket(`udp${family}`).bind({ fd });
}

for (const family of [4, 6] as const) {
  const [mine, theirs] = addresses[family];

  describe(`IPv${family}`, () => {
    test('a TCP server and its client in two namespaces', async () => {
      const server = net.createServer((socket) => socket.end(`you are ${socket.remoteAddress}`));
      server.listen({ fd: there.inside(() => openStreamSocket(family)) });
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const socket = new net.Socket({ fd: here.inside(() => openStreamSocket(family)) });
      socket.setEncoding('utf8').connect({ host: theirs, port });
      const [text] = (await once(socket, 'data')) as [string];
      assert.equal(text, `you are ${mine}`);
      await once(socket, 'close');
      await close(server);
    });

    test('its client somewhere else does not reach it', async () => {
      const server = net.createServer();
      server.listen({ fd: there.inside(() => openStreamSocket(family)) });
      await once(server, 'listening');
      const socket = new net.Socket({ fd: openStreamSocket(family) });
      const loopback = family === 4 ? '127.0.0.1' : '::1';
      socket.connect({ host: loopback, port: (server.address() as AddressInfo).port });
      await assert.rejects(once(socket, 'connect'), { code: 'ECONNREFUSED' });
      await close(server);
    });

    test('a datagram of the full size passes, a larger one is refused', async () => {
      const receiver = there.inside(() => openDatagramSocket(family));
      bindAddress(receiver, Buffer.alloc(family === 4 ? 4 : 16));
      const server = bindByDescriptor(receiver, family);
      const fd = here.inside(() => openDatagramSocket(family, { dontFragment: true }));
      const client = bindByDescriptor(fd, family);
      client.connect(server.address().port, theirs);
      await once(client, 'connect');
      assert.equal(readPathMtu(fd, family), mtu);
      assert.equal(readLinkMtu(fd, 'eth0'), mtu);
      assert.throws(() => readLinkMtu(fd, 'eth7'), { code: 'ENODEV' });
      const room = mtu - (family === 4 ? 28 : 48);
      const arrived = once(server, 'message');
      client.send(Buffer.alloc(room));
      const [data, from] = (await arrived) as [Buffer, dgram.RemoteInfo];
      assert.deepEqual([data.length, from.address], [room, mine]);
      const refused = await new Promise((resolve) => client.send(Buffer.alloc(room + 1), resolve));
      assert.equal((refused as NodeJS.ErrnoException).code, 'EMSGSIZE');
      await Promise.all([close(server), close(client)]);
    });

    test('what ICMP says is heard', async () => {
      const icmp = here.inside(() => openIcmpSocket(family));
      const client = bindByDescriptor(
        here.inside(() => openDatagramSocket(family)),
        family,
      );
      client.connect(9, theirs);
      await once(client, 'connect');
      client.send('no listener');
      await assert.rejects(once(client, 'message'), { code: 'ECONNREFUSED' });
      const message = Buffer.alloc(2048);
      const sender = Buffer.alloc(family === 4 ? 16 : 28);
      const heard: string[] = [];
      // IPv6 neighbours talk ICMP too.
      for (let length = 0; length >= 0;) {
        length = receiveOrNothing(icmp, message, sender);
        if (length < 0) break;
        const header = family === 4 ? (message[0]! & 15) * 4 : 0;
        heard.push(`${message[header]}/${message[header + 1]}`);
      }
      assert.ok(heard.includes(family === 4 ? '3/3' : '1/4'), heard.join(' '));
      fs.closeSync(icmp);
      await close(client);
    });
  });
}

function receiveOrNothing(fd: number, message: Buffer, sender: Buffer): number {
  try {
    return receiveFrom(fd, message, 0, sender);
  } catch (error) {
    assert.ok(hasCode(error, 'EAGAIN'));
    return -1;
  }
}
