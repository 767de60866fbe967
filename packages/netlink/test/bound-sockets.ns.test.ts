import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import { test } from 'node:test';
import { bind, inNamespace, setSocketOption, socket } from '@podwire/linux';
import { type BoundSocket, listBoundSockets, openSocketConnection } from '@podwire/netlink';
import { withNamespaceAsync } from './private-namespace.js';

const AF_INET = 2;
const AF_INET6 = 10;
const SOCK_STREAM = 1;
const SOCK_DGRAM = 2;
const IPPROTO_IPV6 = 41;
const IPV6_V6ONLY = 26;

/** Bound to every address of the family: struct sockaddr_in, or sockaddr_in6. */
function bindSocket(family: number, type: number, port: number, v6Only = false): number {
  const fd = socket(family, type, 0);
  if (v6Only) setSocketOption(fd, IPPROTO_IPV6, IPV6_V6ONLY, new Uint8Array([1, 0, 0, 0]));
  const address = Buffer.alloc(family === AF_INET ? 16 : 28);
  address.writeUInt16LE(family, 0);
  address.writeUInt16BE(port, 2);
  bind(fd, address);
  return fd;
}

test('sockets that wait for others, of both protocols, in another namespace', async () => {
  await withNamespaceAsync(async ({ fd }) => {
    const [udp, ...tcp] = inNamespace({ fd }, () => [
      bindSocket(AF_INET, SOCK_DGRAM, 7200),
      bindSocket(AF_INET, SOCK_STREAM, 7100),
      bindSocket(AF_INET6, SOCK_STREAM, 7101),
      bindSocket(AF_INET6, SOCK_STREAM, 7102, true),
    ]);
    const servers = tcp.map((each) => net.createServer().listen({ fd: each }));
    await Promise.all(servers.map((server) => once(server, 'listening')));
    const connection = openSocketConnection({ namespace: { fd } });
    const shown = (protocol: BoundSocket['protocol']) =>
      listBoundSockets(connection, protocol)
        .map(({ address, port, v6Only }) => ({ address, port, v6Only }))
        .sort((a, b) => a.port - b.port);
    try {
      assert.deepEqual(shown('tcp'), [
        { address: '0.0.0.0', port: 7100, v6Only: false },
        { address: '::', port: 7101, v6Only: false },
        { address: '::', port: 7102, v6Only: true },
      ]);
      assert.deepEqual(shown('udp'), [{ address: '0.0.0.0', port: 7200, v6Only: false }]);
    } finally {
      connection.close();
      fs.closeSync(udp);
      await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
    }
  });
});
