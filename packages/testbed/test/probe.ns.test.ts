import assert from 'node:assert/strict';
import fs from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { warmThreadPool } from '@podwire/linux';
import {
  openTestbedNamespace,
  probeConnectivity,
  type ProbeResult,
  type Station,
  type TestbedNamespace,
} from '@podwire/testbed';
import { createTestNamespace, type TestNamespace } from '@podwire/testkit';

/**
 * Two nodes with a pod each and a router that is also the outside, all of it by hand: `a` – node1 – router – node2 – `b`.
 */
const names = ['a', 'node1', 'router', 'node2', 'b'] as const;
type Name = (typeof names)[number];
const made = new Map<Name, TestNamespace>();
const opened = new Map<Name, TestbedNamespace>();
const space = (name: Name): TestNamespace => made.get(name)!;

const mtu = 1400;
const addresses: Record<Name, { 4: string; 6: string }> = {
  a: { 4: '10.244.1.2', 6: 'fd00:244:1::2' },
  b: { 4: '10.244.2.2', 6: 'fd00:244:2::2' },
  node1: { 4: '192.0.2.11', 6: '2001:db8:2::11' },
  node2: { 4: '192.0.2.12', 6: '2001:db8:2::12' },
  router: { 4: '198.51.100.1', 6: '2001:db8:51::1' },
};
const blocks = {
  node1: { 4: '10.244.1.0/24', 6: 'fd00:244:1::/64' },
  node2: { 4: '10.244.2.0/24', 6: 'fd00:244:2::/64' },
};
const unusedAddresses = [
  { node: 'node1', address: '10.244.1.200' },
  { node: 'node2', address: '10.244.2.200' },
  { node: 'node2', address: 'fd00:244:2::200' },
];

before(async () => {
  await warmThreadPool();
  for (const name of names) made.set(name, createTestNamespace(`pwt-${process.pid}-probe-${name}`));
  for (const name of names) {
    await space(name).ip('link set lo up');
    // Duplicate detection takes a second for each link-local address.
    space(name).inside(() => {
      for (const which of ['all', 'default'])
        fs.writeFileSync(`/proc/sys/net/ipv6/conf/${which}/accept_dad`, '0');
    });
    opened.set(name, openTestbedNamespace(space(name).path));
  }
  for (const name of ['node1', 'node2', 'router'] as const)
    space(name).inside(() => {
      fs.writeFileSync('/proc/sys/net/ipv4/ip_forward', '1');
      fs.writeFileSync('/proc/sys/net/ipv6/conf/all/forwarding', '1');
    });
  space('router').inside(() => fs.writeFileSync('/proc/sys/net/ipv4/conf/all/accept_local', '1'));
  await space('router').ip('route add local 10.244.0.0/16 dev lo', 'route add local fd00:244::/32 dev lo');
  await space('router').ip('link add br0 type bridge forward_delay 0', 'link set br0 up');
  await space('router').ip('addr add 192.0.2.1/24 dev br0', 'addr add 2001:db8:2::1/64 dev br0 nodad');
  await space('router').ip(
    `addr add ${addresses.router[4]} dev lo`,
    `addr add ${addresses.router[6]} dev lo`,
  );
  for (const [node, pod] of [
    ['node1', 'a'],
    ['node2', 'b'],
  ] as const) {
    await space('router').ip(
      `link add ${node} type veth peer name eth0 netns ${space(node).name}`,
      `link set ${node} master br0 up`,
    );
    await space(node).ip(
      'link set eth0 up',
      `addr add ${addresses[node][4]}/24 dev eth0`,
      `addr add ${addresses[node][6]}/64 dev eth0 nodad`,
      'route add default via 192.0.2.1',
      'route add default via 2001:db8:2::1',
      `link add pod mtu ${mtu} type veth peer name eth0 mtu ${mtu} netns ${space(pod).name}`,
      'link set pod up',
      'addr add 169.254.1.1/32 dev pod',
      'addr add fe80::1/64 dev pod nodad',
    );
    await space(pod).ip(
      'link set eth0 up',
      `addr add ${addresses[pod][4]}/32 dev eth0`,
      `addr add ${addresses[pod][6]}/128 dev eth0 nodad`,
      'route add 169.254.1.1 dev eth0 scope link',
      `route add default via 169.254.1.1 src ${addresses[pod][4]}`,
      `route add default via fe80::1 dev eth0 src ${addresses[pod][6]}`,
    );
  }
  for (const node of ['node1', 'node2'] as const) {
    const [pod, other] = node === 'node1' ? (['a', 'node2'] as const) : (['b', 'node1'] as const);
    await space(node).ip(
      ...([4, 6] as const).flatMap((family) => [
        `route add ${addresses[pod][family]} dev pod`,
        `route add blackhole ${blocks[node][family]}`,
        `route add ${blocks[other][family]} via ${addresses[other][family]}`,
      ]),
    );
    const local = (family: 4 | 6): string => (family === 4 ? '10.244.0.0/16' : 'fd00:244::/32');
    await space(node).run(['nft', '-f', '-'], {
      input: `table inet nat { chain post { type nat hook postrouting priority 100;
        ip saddr ${local(4)} ip daddr != ${local(4)} oifname eth0 masquerade
        ip6 saddr ${local(6)} ip6 daddr != ${local(6)} oifname eth0 masquerade
      }
      }
`,
    });
  }
});
after(() => {
  for (const each of opened.values()) each.release();
  for (const each of made.values()) each.delete();
});

function stations(): Station[] {
  const pod = (name: 'a' | 'b', node: string): Station => ({
    ...{ name, kind: 'pod', node, addresses: addresses[name], namespace: opened.get(name)! },
  });
  const node = (name: 'node1' | 'node2'): Station => ({
    ...{ name, kind: 'node', node: name, addresses: addresses[name], namespace: opened.get(name)! },
  });
  const outside = opened.get('router')!;
  return [
    ...[pod('a', 'node1'), pod('b', 'node2'), node('node1'), node('node2')],
    {
      ...{ name: 'outside', kind: 'outside', addresses: addresses.router, namespace: outside },
      aliases: ['192.0.2.1', '2001:db8:2::1'],
    },
  ];
}

const probe = async (): Promise<readonly ProbeResult[]> =>
  (await probeConnectivity(stations(), unusedAddresses, { deadline: 2_000 })).results;

const describeResult = ({ from, to, family, kind, words = '' }: ProbeResult): string =>
  `${from} → ${to} IPv${family} ${kind}: ${words}`;
const failuresOf = (results: readonly ProbeResult[]): string[] =>
  results.filter(({ ok }) => !ok).map(describeResult);

/** Does something to the network for as long as the work takes. */
async function broken<T>(where: Name, make: string[], undo: string[], work: () => Promise<T>): Promise<T> {
  await space(where).ip(...make);
  try {
    return await work();
  } finally {
    await space(where).ip(...undo);
  }
}

describe('a network made by hand', () => {
  test('every pod reaches every pod', async () => {
    const results = await probe();
    assert.deepEqual(failuresOf(results), []);
    // Two pods to four others each, two nodes to two pods each, in two families by two protocols; and unused addresses.
    assert.equal(results.length, (2 * 4 + 2 * 2) * 2 * 2 + 3);
    const room = results.find(({ kind, from, to }) => kind === 'udp' && from === 'a' && to === 'b');
    assert.equal(room?.bytes, mtu - 28);
    const masqueraded = results.find(({ from, to }) => from === 'a' && to === 'outside');
    assert.equal(masqueraded?.seen, addresses.node1[4]);
    const unused = results.filter(({ kind }) => kind === 'vacant').map(({ words }) => words);
    assert.equal(unused.length, 3);
  });

  test('a route that is missing on the way there', async () => {
    const { 4: block } = blocks.node2;
    const via = `via ${addresses.node2[4]}`;
    const failures = await broken(
      'node1',
      [`route del ${block} ${via}`],
      [`route add ${block} ${via}`],
      async () => failuresOf(await probe()),
    );
    const known = failures.filter((line) => /^(a|node1) → b IPv4 (tcp|udp): /.test(line));
    assert.equal(known.length, 4, failures.join('\n'));
    assert.ok(
      failures.every((line) => line.includes('IPv4')),
      failures.join('\n'),
    );
    // A packet to an unused address left the cluster by the default route.
    const leak = failures.find((line) => line.includes('vacant'));
    assert.match(leak ?? '', /a → node2 IPv4 vacant: the packet left the cluster/);
  });

  test('two nodes that send a packet back and forth', async () => {
    const { 4: block } = blocks.node2;
    const failures = await broken(
      'node2',
      [`route del blackhole ${block}`, `route add ${block} via ${addresses.node1[4]}`],
      [`route del ${block} via ${addresses.node1[4]}`, `route add blackhole ${block}`],
      async () => failuresOf(await probe()),
    );
    assert.equal(failures.length, 1, failures.join('\n'));
    assert.match(failures[0] ?? '', /a → node2 IPv4 vacant: the packet looped until 192\.0\.2\.1[12]/);
  });

  test('a path that is too narrow for what pods send', async () => {
    const failures = await broken('node1', ['link set eth0 mtu 1300'], ['link set eth0 mtu 1500'], async () =>
      failuresOf(await probe()),
    );
    // Again: what routers have said before must not hide it.
    await broken('node1', ['link set eth0 mtu 1300'], ['link set eth0 mtu 1500'], async () => {
      assert.deepEqual(failuresOf(await probe()), failures);
    });
    const found = failures.filter((line) => /^a → b IPv[46] udp: /.test(line));
    assert.equal(found.length, 2, failures.join('\n'));
    assert.match(
      found[0] ?? '',
      /a datagram of 1372 bytes, as large as the own link allows, does not fit the path/,
    );
  });

  test('a pod that has lost an address is what fails, and not the test', async () => {
    const { 4: address } = addresses.b;
    const back = [
      `addr add ${address}/32 dev eth0`,
      'route add 169.254.1.1 dev eth0 scope link',
      `route add default via 169.254.1.1 src ${address}`,
    ];
    const open = (): number => fs.readdirSync('/proc/self/fd').length;
    const before = open();
    const failures = await broken('b', [`addr del ${address}/32 dev eth0`], back, async () =>
      failuresOf(await probe()),
    );
    assert.ok(
      failures.includes('a → b IPv4 udp: the address is not there (EADDRNOTAVAIL)'),
      failures.join('\n'),
    );
    assert.ok(
      failures.every((line) => line.includes('IPv4') && /^b |→ b /.test(line)),
      failures.join('\n'),
    );
    assert.deepEqual(failuresOf(await probe()), []);
    assert.equal(open(), before);
  });

  test('by echoes alone, where the others are on other machines', async () => {
    const here = stations().filter(({ node }) => node === 'node1');
    const remotes = stations()
      .filter(({ node }) => node === 'node2')
      .map(({ namespace: _, ...participant }) => ({ ...participant, remote: true }));
    const ask = async (): Promise<readonly ProbeResult[]> =>
      (await probeConnectivity(here, [], { deadline: 2_000, remotes })).results;
    const results = await ask();
    assert.deepEqual(failuresOf(results), []);
    const echoes = results.filter(({ kind }) => kind === 'icmp');
    assert.deepEqual(
      echoes.map(({ from, to, family, bytes }) => `${from} ${to} ${family} ${bytes}`),
      [
        ...[`a b 4 ${mtu - 28}`, `a b 6 ${mtu - 48}`, `a node2 4 ${mtu - 28}`, `a node2 6 ${mtu - 48}`],
        // Its own link is wider than the other pod's.
        ...[`node1 b 4 ${mtu - 28}`, `node1 b 6 ${mtu - 48}`],
      ],
    );
    const routes = (what: string): string[] =>
      ([4, 6] as const).map((family) => `route ${what} ${addresses.b[family]} dev pod`);
    await broken('node2', routes('del'), routes('add'), async () => {
      const failures = failuresOf(await ask());
      assert.ok(
        failures.some((line) => line.startsWith('a → b IPv4 icmp: ')),
        failures.join('\n'),
      );
      assert.ok(
        failures.every((line) => line.includes('→ b ')),
        failures.join('\n'),
      );
    });
  });

  test('a pod that is masqueraded on the way to another', async () => {
    const rule = ['nft', 'insert rule inet nat post ip daddr', blocks.node2[4], 'masquerade']
      .join(' ')
      .split(' ');
    await space('node1').run(rule);
    const failures = failuresOf(await probe());
    await space('node1').run(['nft', '-f', '-'], { input: 'flush ruleset' });
    assert.ok(
      failures.includes(`a → b IPv4 tcp: it was seen as ${addresses.node1[4]}, not as ${addresses.a[4]}`),
      failures.join('\n'),
    );
  });
});
