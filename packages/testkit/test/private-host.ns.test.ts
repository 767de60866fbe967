import assert from 'node:assert/strict';
import fs from 'node:fs';
import { after, before, test } from 'node:test';
import {
  ask,
  createPrivateHost,
  pings,
  pour,
  type PrivateHost,
  reaches,
  serveEcho,
  serveSink,
  startPing,
  UnreachableError,
  worldAddresses,
} from '@podwire/testkit';

let host: PrivateHost;
before(async () => {
  host = await createPrivateHost({ name: 'kit', world: true });
});
after(() => host.close());

test('programs run inside the namespace and see nothing of the machine', async () => {
  const links = JSON.parse(await host.run(['ip', '-j', 'link'])) as { ifname: string }[];
  assert.deepEqual(links.map((link) => link.ifname).sort(), ['eth0', 'lo']);
});

test('the routes of its IPv6 addresses stand from the beginning, also of many hosts at once', async () => {
  // The list of the kernel, read in the turn in which the host is there: a program's start would give the kernel time.
  const look = async (): Promise<[PrivateHost, string]> => {
    const one = await createPrivateHost({ name: 'many', world: true });
    return [one, one.namespace.inside(() => fs.readFileSync('/proc/thread-self/net/ipv6_route', 'utf8'))];
  };
  const looked = await Promise.all(Array.from({ length: 8 }, look));
  for (const [one] of looked) await one.close();
  for (const [, routes] of looked) {
    for (const wanted of ['fe800000000000000000000000000010', '20010db8000200000000000000000010', 'ff0'])
      assert.match(routes, new RegExp(`^${wanted}.* eth0$`, 'm'));
  }
});

test('a failing program is an error with its output', async () => {
  await assert.rejects(host.run(['ip', 'link', 'show', 'nothing']), /does not exist/);
});

test('a program is killed when the signal fires', async () => {
  const abort = new AbortController();
  const running = host.run(['sleep', '1000'], { signal: abort.signal });
  abort.abort(new Error('enough'));
  await assert.rejects(running, /enough/);
});

for (const [family, address] of Object.entries(worldAddresses.beyond)) {
  test(`TCP, UDP and SCTP reach the world over ${family}, and the server names its peer`, async () => {
    const world = host.world ?? assert.fail('a world');
    for (const protocol of ['tcp', 'udp', 'sctp'] as const) {
      const server = await serveEcho(world, protocol, address, protocol === 'sctp' ? 7000 : 0);
      const answer = await ask(host.namespace, protocol, address, server.port, { payload: 'hello' });
      assert.equal(answer.peer.address, worldAddresses.host[family as 'ipv4' | 'ipv6']);
      assert.deepEqual(answer.local, { address, port: server.port });
      assert.equal(answer.payload, protocol === 'sctp' ? '' : 'hello');
      await server.close();
      assert.equal(await reaches(host.namespace, protocol, address, server.port, { timeout: 100 }), false);
    }
  });
}

test('a refused connection says so', async () => {
  await assert.rejects(
    ask(host.namespace, 'tcp', '127.0.0.1', 9),
    (error) => error instanceof UnreachableError && error.code === 'ECONNREFUSED',
  );
});

test('a transfer is measured by its receiver', async () => {
  const sink = await serveSink(host.namespace, '127.0.0.1');
  const transfer = await pour(host.namespace, '127.0.0.1', sink.port, 3_000_000);
  assert.equal(transfer.bytes, 3_000_000);
  assert.ok(transfer.seconds > 0 && transfer.rate > 0);
  await sink.close();
});

test('ping finds an address, misses another, and counts what it lost', async () => {
  assert.equal(await pings(host.namespace, worldAddresses.beyond.ipv4), true);
  assert.equal(await pings(host.namespace, '198.51.100.200', 100), false);
  const ping = startPing(host.namespace, worldAddresses.beyond.ipv4, 20);
  await ping.waitForAnswers(3);
  await host.namespace.ip('link set eth0 down');
  await host.namespace.ip('link set eth0 up', `route add default via ${worldAddresses.world.ipv4}`);
  await ping.waitForAnswers(3);
  const report = await ping.stop();
  assert.ok(report.received >= 6);
  assert.equal(report.sent - report.received <= report.lost.length + 1, true);
});

test('close leaves no namespace, no process and no file', async () => {
  const other = await createPrivateHost({ name: 'gone', world: true });
  const pod = other.addPod();
  const server = await serveEcho(pod, 'udp', '127.0.0.1', 0).catch(() => undefined);
  const order: number[] = [];
  other.defer(() => order.push(1));
  other.defer(() => order.push(2));
  const sleeper = other.start(['sleep', '1000']);
  await other.close();
  await sleeper.exited;
  await server?.process.exited;
  assert.deepEqual(order, [2, 1]);
  assert.deepEqual(other.processes(), []);
  for (const left of [other.namespace.path, pod.path, other.directory])
    assert.equal(fs.existsSync(left), false);
});

test('close goes on after an error and throws it', async () => {
  const other = await createPrivateHost({ name: 'err' });
  other.defer(() => assert.fail('a bad cleanup'));
  await assert.rejects(other.close(), /a bad cleanup/);
  assert.equal(fs.existsSync(other.namespace.path), false);
});
