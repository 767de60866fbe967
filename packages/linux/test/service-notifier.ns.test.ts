/** The messages of a daemon to its service manager, with a real datagram receiver. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import { bind, openServiceNotifier, openUnixDatagram, receive, send, socket } from '@podwire/linux';

const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'podwire-notify-'));
after(() => fs.rmSync(directory, { recursive: true }));

const AF_UNIX = 1;
const SOCK_DGRAM_NONBLOCK = 2 | 0o4000 | 0o2000000;
const pid = 4711;

/** Receives datagrams at an address as NOTIFY_SOCKET has it. */
function listenAt(address: string): { messages: () => string[]; close: () => void } {
  const name = address.startsWith('@') ? `\0${address.slice(1)}` : address;
  const fd = socket(AF_UNIX, SOCK_DGRAM_NONBLOCK, 0);
  bind(fd, Buffer.concat([Buffer.from([AF_UNIX, 0]), Buffer.from(name)]));
  const buffer = Buffer.alloc(4096);
  const messages = (): string[] => {
    const all: string[] = [];
    for (;;) {
      try {
        all.push(buffer.toString('utf8', 0, receive(fd, buffer)));
      } catch {
        return all;
      }
    }
  };
  return { messages, close: () => fs.closeSync(fd) };
}

function open(env: Record<string, string | undefined>) {
  const troubles: string[] = [];
  const notifier = openServiceNotifier({
    env,
    pid,
    monotonic: () => 123_456n,
    onTrouble: (message) => troubles.push(message),
  });
  return { notifier, troubles, env };
}

describe('what the service manager is told', () => {
  for (const [kind, address] of [
    ['a path', path.join(directory, 'notify')],
    ['an abstract name', `@podwire-notify-${process.pid}`],
  ] as const) {
    test(`arrives at ${kind}`, () => {
      const manager = listenAt(address);
      const { notifier, troubles, env } = open({ NOTIFY_SOCKET: address, PATH: '/bin' });
      notifier.ready('ready,\n2 endpoints');
      notifier.reloading();
      notifier.status('busy');
      notifier.stopping();
      notifier.close();
      assert.deepEqual(manager.messages(), [
        'READY=1\nSTATUS=ready, 2 endpoints',
        'RELOADING=1\nMONOTONIC_USEC=123456\nSTATUS=reloading',
        'STATUS=busy',
        'STOPPING=1\nSTATUS=stopping',
      ]);
      assert.deepEqual(troubles, []);
      assert.deepEqual(env, { PATH: '/bin' });
      manager.close();
    });
  }

  test('the watchdog is fed while the work goes on, and trouble is said once when it stops', async () => {
    const address = `@podwire-watchdog-${process.pid}`;
    const manager = listenAt(address);
    const { notifier, troubles } = open({
      NOTIFY_SOCKET: address,
      WATCHDOG_USEC: '4000',
      WATCHDOG_PID: `${pid}`,
    });
    let looks = 0;
    const stuck = new Promise<void>((resolve) => {
      const stop = notifier.feedWatchdog(
        () => {
          looks += 1;
          if (looks === 6) resolve(stop());
          return looks <= 3;
        },
        () => `look ${looks}`,
      );
    });
    // The notifier's own timer keeps no process alive.
    const keep = setInterval(() => undefined, 1_000);
    await stuck;
    clearInterval(keep);
    assert.deepEqual(
      manager.messages(),
      [1, 2, 3].map((look) => `WATCHDOG=1\nSTATUS=look ${look}`),
    );
    assert.deepEqual(troubles, ['the watchdog is not fed any more: the work has stopped']);
    notifier.close();
    manager.close();
  });

  test('the watchdog of another process is not fed', () => {
    const address = `@podwire-other-${process.pid}`;
    const manager = listenAt(address);
    const { notifier } = open({ NOTIFY_SOCKET: address, WATCHDOG_USEC: '4000', WATCHDOG_PID: '1' });
    notifier.feedWatchdog(
      () => true,
      () => '',
    )();
    assert.deepEqual(manager.messages(), []);
    notifier.close();
    manager.close();
  });

  test('without a manager nothing is sent, and one that is gone is said', () => {
    const alone = open({});
    alone.notifier.ready('ready');
    alone.notifier.close();
    const gone = open({ NOTIFY_SOCKET: path.join(directory, 'nobody') });
    gone.notifier.ready('ready');
    assert.match(gone.troubles.join(), /^the service manager could not be told: .*ENOENT/);
  });
});

test('an address that no socket can have is refused before a socket is opened', () => {
  for (const address of ['', '@', 'relative', `/${'x'.repeat(107)}`, `@${'x'.repeat(108)}`])
    assert.throws(() => openUnixDatagram(address), /is no address of a unix socket/);
});

test('the longest abstract name arrives whole', () => {
  const address = `@${'x'.repeat(107)}`;
  const manager = listenAt(address);
  const fd = openUnixDatagram(address);
  send(fd, Buffer.from('hello'));
  assert.deepEqual(manager.messages(), ['hello']);
  fs.closeSync(fd);
  manager.close();
});
