import assert from 'node:assert/strict';
import { after, before, beforeEach, suite, test } from 'node:test';
import {
  ask,
  assertArrives,
  assertBlocked,
  assertPasses,
  assertRefused,
  createPrivateHost,
  pings,
  type PrivateHost,
  serveEcho,
  type TestNamespace,
  worldAddresses,
} from '@podwire/testkit';

const { host: node, beyond } = worldAddresses;
const families = ['ipv4', 'ipv6'] as const;

suite('claims about a path', () => {
  let host: PrivateHost;
  let world: TestNamespace;
  let pod: TestNamespace;

  /** A pod, the host that forwards for it, and a world that knows the way back. */
  before(async () => {
    host = await createPrivateHost({ name: 'claims', world: true });
    world = host.world!;
    pod = host.addPod('pod');
    await host.namespace.ip(
      `link add pod0 type veth peer name eth0 netns ${pod.name}`,
      'link set pod0 up',
      'addr add 10.9.0.1/24 dev pod0',
    );
    await pod.ip('link set eth0 up', 'addr add 10.9.0.2/24 dev eth0', 'route add default via 10.9.0.1');
    await world.ip(`route add 10.9.0.0/24 via ${node.ipv4}`);
    await host.run(['sysctl', '-q', '-w', 'net.ipv4.ip_forward=1']);
  });
  after(() => host.close());
  beforeEach(async () => {
    await filter(host.namespace, 'forward', '');
    await filter(world, 'input', '');
  });

  /** Filters in place of what was filtered before. */
  async function filter(at: TestNamespace, hook: 'forward' | 'input', rule: string): Promise<void> {
    const chain = `chain ${hook} { type filter hook ${hook} priority 0; ${rule}; }`;
    const input = `table inet loss\ndelete table inet loss\ntable inet loss { ${chain}; }\n`;
    await at.run(['nft', '-f', '-'], { input });
  }

  /** The world gets only what exceeds a number that is given anew once a day. */
  const loseFirst = (count: number, kind: string): Promise<void> =>
    filter(world, 'input', `${kind} limit rate ${count}/day burst ${count} packets drop`);

  for (const protocol of ['udp', 'sctp', 'tcp'] as const) {
    for (const family of families) {
      test(`${protocol} is sent again until an answer comes, ${family}`, async () => {
        const server = await serveEcho(world, protocol, beyond[family], 7000);
        await loseFirst(2, `${protocol} dport 7000`);
        const answer = await ask(host.namespace, protocol, beyond[family], 7000);
        assert.equal(answer.peer.address, node[family]);
        await server.close();
      });
    }
  }

  for (const family of families) {
    test(`a ping is sent again until an answer comes, ${family}`, async () => {
      await loseFirst(2, `${family === 'ipv4' ? 'icmp' : 'icmpv6'} type echo-request`);
      assert.ok(await pings(host.namespace, beyond[family]));
    });
  }

  test('a datagram that passes is sent again until it is answered', async () => {
    await loseFirst(2, 'udp dport != 0');
    await assertPasses(pod, world, beyond.ipv4);
  });

  test('a packet that cannot be answered is sent again until it arrives', async () => {
    await pod.ip('addr add 10.99.0.1/32 dev eth0'); // the world knows no way back to it
    await loseFirst(2, 'udp dport 9');
    await assertArrives(pod, world, beyond.ipv4, { source: '10.99.0.1' });
  });

  const way = (): { namespace: TestNamespace; address: string }[] => [
    { namespace: host.namespace, address: '10.9.0.1' },
  ];

  test('what is dropped on the way is blocked', async () => {
    await filter(host.namespace, 'forward', 'iifname pod0 drop');
    await assertBlocked(pod, world, beyond.ipv4, way());
    await assertBlocked(pod, world, beyond.ipv4, way(), { protocol: 'tcp', port: 80 });
  });

  test('what passes is not blocked, not even once', async () => {
    await assert.rejects(assertBlocked(pod, world, beyond.ipv4, way()), /arrived from .*pod.* 3 packets/s);
    await loseFirst(2, 'udp dport 9');
    await assert.rejects(assertBlocked(pod, world, beyond.ipv4, way()), /arrived from/);
  });

  test('a ping that is dropped is blocked, and pings of others are markers', async () => {
    const ping = { protocol: 'icmp', source: '10.9.0.2', markers: host.namespace } as const;
    const toWorld = [{ namespace: host.namespace, address: '10.9.0.1' }];
    await filter(host.namespace, 'forward', 'iifname pod0 icmp type echo-request drop');
    await assertBlocked(pod, world, beyond.ipv4, toWorld, ping);
    await filter(host.namespace, 'forward', '');
    await assert.rejects(assertBlocked(pod, world, beyond.ipv4, toWorld, ping), /arrived from/);
  });

  test('claims about one receiver run side by side, each with its own port', async () => {
    await filter(host.namespace, 'forward', 'iifname pod0 tcp dport 80 drop');
    const claim = (port: number): Promise<void> =>
      assertBlocked(pod, world, beyond.ipv4, way(), { protocol: 'tcp', port });
    await Promise.all([claim(80), assert.rejects(claim(81), /arrived from/)]);
  });

  test('a marker of its own takes the place of pings', async () => {
    await filter(host.namespace, 'forward', 'iifname pod0 tcp dport != 22 drop; meta l4proto icmp drop');
    const sendMarker = async (): Promise<void> => {
      await assertRefused(pod, 'tcp', beyond.ipv4, 22);
    };
    await assertBlocked(pod, world, beyond.ipv4, [], { protocol: 'tcp', port: 80, sendMarker });
    const lost = { protocol: 'tcp', port: 22, sendMarker: () => Promise.reject(new Error('lost')) } as const;
    await assert.rejects(assertBlocked(pod, world, beyond.ipv4, [], lost), /lost/);
  });

  test('what a slow link delays is not blocked', async () => {
    // A datagram takes a fifth of a second, a ping twice as long.
    const slow = ['tbf', 'rate', '2kbit', 'burst', '100', 'limit', '9k'];
    await pod.run(['tc', 'qdisc', 'add', 'dev', 'eth0', 'root', ...slow]);
    try {
      await assert.rejects(assertBlocked(pod, world, beyond.ipv4, way()), /arrived from/);
      await assertPasses(pod, world, beyond.ipv4);
    } finally {
      await pod.run(['tc', 'qdisc', 'del', 'dev', 'eth0', 'root']);
    }
  });

  test('nothing is called blocked when its marker does not arrive', async () => {
    // No route: ping says so at once.
    await pod.ip('route add unreachable 10.9.0.77');
    const nowhere = [{ namespace: host.namespace, address: '10.9.0.77' }];
    await assert.rejects(assertBlocked(pod, world, beyond.ipv4, nowhere), /marker .* does not arrive/);
  });

  test('a refusal is told from the answer of a server', async () => {
    await assertRefused(pod, 'tcp', beyond.ipv4, 81);
    const server = await serveEcho(world, 'tcp', beyond.ipv4, 82);
    await assert.rejects(assertRefused(pod, 'tcp', beyond.ipv4, 82), /Missing expected rejection/);
    await server.close();
  });
});
