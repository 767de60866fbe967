import assert from 'node:assert/strict';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import {
  getSocketOption,
  lockFile,
  peerCredentials,
  receive,
  receiveFrom,
  send,
  sendAsync,
  setSocketOption,
  socket,
  type SystemError,
} from '@podwire/linux';

const AF_UNIX = 1;
const AF_NETLINK = 16;
const SOCK_DGRAM = 2;
const SOL_SOCKET = 1;
const SO_RCVTIMEO = 20;
const MSG_DONTWAIT = 0x40;
const MSG_TRUNC = 0x20;

const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'podwire-linux-'));
after(() => fs.rmSync(directory, { recursive: true }));

function withSocket<T>(domain: number, work: (fd: number) => T): T {
  const fd = socket(domain, SOCK_DGRAM, 0);
  try {
    return work(fd);
  } finally {
    fs.closeSync(fd);
  }
}

const codeOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'ok',
    (error: unknown) => (error as SystemError).code,
  );

test('failures carry the name of the call and of the error', () => {
  assert.throws(() => socket(4711, SOCK_DGRAM, 0), { syscall: 'socket', code: 'EAFNOSUPPORT' });
  assert.throws(() => send(-1, new Uint8Array(1)), { syscall: 'send', code: 'EBADF' });
});

test('each asynchronous call has its own error, whatever happens meanwhile', async () => {
  const file = fs.openSync('/dev/null', 'r');
  const unconnected = socket(AF_UNIX, SOCK_DGRAM, 0);
  const expected = new Map([
    [-1, 'EBADF'],
    [file, 'ENOTSOCK'],
    [unconnected, 'ENOTCONN'],
  ]);
  const calls = Array.from({ length: 60 }, (_, index) => [...expected][index % 3]!);
  const outcomes = calls.map(async ([fd]) => {
    const code = await codeOf(sendAsync(fd, new Uint8Array(8)));
    // A failure of this thread in between.
    assert.throws(() => socket(4711, SOCK_DGRAM, 0), { code: 'EAFNOSUPPORT' });
    return code;
  });
  assert.deepEqual(
    await Promise.all(outcomes),
    calls.map(([, code]) => code),
  );
  fs.closeSync(file);
  fs.closeSync(unconnected);
});

test('a datagram is sent from the pool', async () => {
  const fd = socket(AF_NETLINK, SOCK_DGRAM, 0);
  // A link request that the kernel acknowledges.
  const request = Buffer.alloc(32);
  request.writeUInt32LE(32, 0);
  request.writeUInt16LE(19, 4);
  request.writeUInt16LE(0x5, 6);
  request.writeUInt32LE(42, 8);
  assert.equal(await sendAsync(fd, request), 32);
  const [into, sender] = [Buffer.alloc(64), Buffer.alloc(12, 0xff)];
  const length = receiveFrom(fd, into, 0, sender);
  assert.equal(into.readUInt32LE(0), length);
  assert.deepEqual([into.readUInt16LE(4), into.readUInt32LE(8)], [2, 42]);
  assert.deepEqual([sender.readUInt16LE(0), sender.readUInt32LE(4)], [AF_NETLINK, 0]);
  fs.closeSync(fd);
});

test('a datagram that is too long tells its length', () => {
  withSocket(AF_NETLINK, (fd) => {
    const request = Buffer.alloc(16);
    request.writeUInt32LE(16, 0);
    request.writeUInt16LE(1, 4);
    request.writeUInt16LE(0x5, 6);
    send(fd, request);
    assert.equal(receive(fd, new Uint8Array(4), MSG_TRUNC), 36);
  });
});

test('receiving does not wait when it is told not to, nor longer than it is told to', () => {
  withSocket(AF_NETLINK, (fd) => {
    assert.throws(() => receive(fd, new Uint8Array(4), MSG_DONTWAIT), { code: 'EAGAIN' });
    setSocketOption(fd, SOL_SOCKET, SO_RCVTIMEO, new Uint8Array(new BigInt64Array([0n, 1000n]).buffer));
    assert.throws(() => receive(fd, new Uint8Array(4)), { code: 'EAGAIN' });
    const timeout = getSocketOption(fd, SOL_SOCKET, SO_RCVTIMEO, 16);
    assert.equal(timeout.readBigInt64LE(0), 0n);
    assert.ok(timeout.readBigInt64LE(8) > 0n);
  });
});

test('the peer of a unix socket is known', async () => {
  const file = path.join(directory, 'socket');
  const server = net.createServer().listen(file);
  await new Promise((resolve) => server.once('listening', resolve));
  const accepted = new Promise<net.Socket>((resolve) => server.once('connection', resolve));
  const client = net.connect(file);
  const socket = await accepted;
  assert.deepEqual(peerCredentials(socket), {
    pid: process.pid,
    uid: process.getuid!(),
    gid: process.getgid!(),
  });
  const closed = new Promise((resolve) => socket.once('close', resolve));
  client.destroy();
  socket.destroy();
  await closed;
  assert.equal(peerCredentials(socket), undefined);
  server.close();
});

test('a file is locked once', () => {
  const file = path.join(directory, 'lock');
  const [first, second] = [fs.openSync(file, 'w'), fs.openSync(file, 'w')];
  lockFile(first);
  assert.throws(() => lockFile(second), { syscall: 'flock', code: 'EAGAIN' });
  fs.closeSync(first);
  lockFile(second);
  fs.closeSync(second);
});
