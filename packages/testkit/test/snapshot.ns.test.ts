import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import {
  assertSameSnapshot,
  createPrivateHost,
  diffSnapshots,
  type PrivateHost,
  takeSnapshot,
} from '@podwire/testkit';

let host: PrivateHost;
before(async () => {
  host = await createPrivateHost({ name: 'snap' });
  // Without IPv6 on the links nothing changes by itself after they are up.
  await host.namespace.ip('link add bridge0 type bridge', 'link add wire0 type veth peer name wire1');
  await host.run([
    'sysctl',
    '-q',
    '-w',
    'net.ipv6.conf.wire0.disable_ipv6=1',
    'net.ipv6.conf.wire1.disable_ipv6=1',
  ]);
  await host.namespace.ip('link set wire0 up', 'link set wire1 up', 'address add 10.9.0.1/24 dev wire0');
  await host.run(['tc', 'qdisc', 'add', 'dev', 'wire0', 'clsact']);
  await host.run(['nft', '-f', '-'], { input: table });
});
after(() => host.close());

const table = `table inet kit {
  set ports { type inet_service; elements = { 80, 443 } }
  chain input { type filter hook input priority 0; tcp dport @ports counter accept; }
}
`;

/** Each changes one thing; `undo` must bring the first picture back. */
const changes: readonly { name: string; make: string[][]; undo: string[][]; seen: RegExp }[] = [
  {
    name: 'a link',
    make: [['ip', 'link', 'add', 'extra', 'type', 'ifb']],
    undo: [['ip', 'link', 'delete', 'extra']],
    seen: /^\+ links\/extra .*"info_kind":"ifb"/,
  },
  {
    name: "a link's group",
    make: [['ip', 'link', 'set', 'wire1', 'group', '77']],
    undo: [['ip', 'link', 'set', 'wire1', 'group', 'default']],
    seen: /^~ links\/wire1 group: "default" → "77"$/,
  },
  {
    name: 'an address',
    make: [['ip', 'address', 'add', '10.9.0.2/24', 'dev', 'wire0']],
    undo: [['ip', 'address', 'delete', '10.9.0.2/24', 'dev', 'wire0']],
    seen: /^\+ addresses\/wire0 10\.9\.0\.2 /,
  },
  {
    name: 'an IPv6 address',
    make: [['ip', 'address', 'add', 'fd00::2/64', 'dev', 'lo']],
    undo: [['ip', 'address', 'delete', 'fd00::2/64', 'dev', 'lo']],
    seen: /^\+ addresses\/lo fd00::2 /,
  },
  {
    name: 'a route of another table',
    make: [['ip', 'route', 'add', 'blackhole', '10.77.0.0/16', 'table', '99']],
    undo: [['ip', 'route', 'delete', 'blackhole', '10.77.0.0/16', 'table', '99']],
    seen: /^\+ routes\/blackhole 10\.77\.0\.0\/16 table 99/,
  },
  {
    name: 'an IPv6 route',
    make: [['ip', '-6', 'route', 'add', 'blackhole', 'fd77::/64']],
    undo: [['ip', '-6', 'route', 'delete', 'blackhole', 'fd77::/64']],
    seen: /^\+ routes\/blackhole fd77::\/64 /,
  },
  {
    name: 'a rule',
    make: [['ip', 'rule', 'add', 'from', '10.9.0.7', 'table', '99']],
    undo: [['ip', 'rule', 'delete', 'from', '10.9.0.7', 'table', '99']],
    seen: /^\+ rules\/ipv4 32765 /,
  },
  {
    name: 'an IPv6 rule',
    make: [['ip', '-6', 'rule', 'add', 'from', 'fd00::7', 'table', '99']],
    undo: [['ip', '-6', 'rule', 'delete', 'from', 'fd00::7', 'table', '99']],
    seen: /^\+ rules\/ipv6 32765 /,
  },
  {
    name: 'a neighbour',
    make: [['ip', 'neighbour', 'add', '10.9.0.9', 'lladdr', '02:00:00:00:00:09', 'dev', 'wire0']],
    undo: [['ip', 'neighbour', 'delete', '10.9.0.9', 'dev', 'wire0']],
    seen: /^\+ neighbours\/wire0 10\.9\.0\.9 .*02:00:00:00:00:09/,
  },
  {
    name: 'a proxy neighbour',
    make: [['ip', 'neighbour', 'add', 'proxy', '10.9.0.8', 'dev', 'wire0']],
    undo: [['ip', 'neighbour', 'delete', 'proxy', '10.9.0.8', 'dev', 'wire0']],
    seen: /^\+ neighbours\/wire0 10\.9\.0\.8 /,
  },
  {
    name: 'a forwarding entry',
    make: [['bridge', 'fdb', 'add', '02:00:00:00:00:0a', 'dev', 'bridge0', 'self', 'local']],
    undo: [['bridge', 'fdb', 'delete', '02:00:00:00:00:0a', 'dev', 'bridge0', 'self', 'local']],
    seen: /^\+ fdb\/bridge0 02:00:00:00:00:0a /,
  },
  {
    name: 'a qdisc',
    make: [
      [
        'tc',
        'qdisc',
        'add',
        'dev',
        'wire1',
        'root',
        'tbf',
        'rate',
        '1mbit',
        'burst',
        '3000',
        'limit',
        '9000',
      ],
    ],
    undo: [['tc', 'qdisc', 'delete', 'dev', 'wire1', 'root']],
    seen: /^\+ qdiscs\/wire1 root tbf .*"rate":125000/,
  },
  {
    name: 'a filter',
    make: [
      [...'tc filter add dev wire0 ingress protocol all pref 7 u32 match u32 0 0'.split(' ')].concat(
        'action mirred egress redirect dev wire1'.split(' '),
      ),
    ],
    undo: [['tc', 'filter', 'delete', 'dev', 'wire0', 'ingress']],
    seen: /^\+ filters\/dev wire0 ingress 7 all u32.*"to_dev":"wire1"/m,
  },
  {
    name: 'a set element',
    make: [['nft', 'add', 'element', 'inet', 'kit', 'ports', '{', '22', '}']],
    undo: [['nft', 'delete', 'element', 'inet', 'kit', 'ports', '{', '22', '}']],
    seen: /^~ nftables\/set inet kit ports elem: .*"22"/,
  },
  {
    name: 'a chain',
    make: [['nft', 'add', 'chain', 'inet', 'kit', 'more']],
    undo: [['nft', 'delete', 'chain', 'inet', 'kit', 'more']],
    seen: /^\+ nftables\/chain inet kit more /,
  },
  {
    name: 'a parameter',
    make: [['sysctl', '-q', '-w', 'net.ipv4.conf.wire1.proxy_arp=1']],
    undo: [['sysctl', '-q', '-w', 'net.ipv4.conf.wire1.proxy_arp=0']],
    seen: /^~ sysctls\/ipv4\/conf\/wire1 proxy_arp: "0" → "1"$/,
  },
];

for (const { name, make, undo, seen } of changes) {
  test(`a snapshot shows ${name}, and its removal`, async () => {
    const before = await takeSnapshot(host.namespace);
    for (const argv of make) await host.run(argv);
    const differences = diffSnapshots(before, await takeSnapshot(host.namespace));
    assert.match(differences.join('\n'), new RegExp(seen.source, 'm'));
    for (const argv of undo) await host.run(argv);
    assertSameSnapshot(before, await takeSnapshot(host.namespace));
  });
}

test('counters that count and the order of elements are no difference', async () => {
  const before = await takeSnapshot(host.namespace);
  await host.run(['nft', 'delete', 'element', 'inet', 'kit', 'ports', '{', '80', '}']);
  await host.run(['nft', 'add', 'element', 'inet', 'kit', 'ports', '{', '80', '}']);
  await host.run(['ping', '-c', '1', '10.9.0.1']);
  assertSameSnapshot(before, await takeSnapshot(host.namespace));
});

test('handles that the kernel numbers are no difference, up to its last one', async () => {
  const replace = (handle: string) =>
    host.run(['tc', 'qdisc', 'replace', 'dev', 'wire1', 'root', 'handle', handle, 'pfifo', 'limit', '9']);
  await replace('8001:');
  const numbered = await takeSnapshot(host.namespace);
  for (const handle of ['f006:', 'fffe:']) {
    await replace(handle);
    assertSameSnapshot(numbered, await takeSnapshot(host.namespace));
  }
  await replace('10:');
  assert.deepEqual(diffSnapshots(numbered, await takeSnapshot(host.namespace)), [
    '~ qdiscs/wire1 root pfifo handle: "automatic" → "10:"',
  ]);
  await host.run(['tc', 'qdisc', 'del', 'dev', 'wire1', 'root']);
});

test('files, processes and descriptors belong to the picture when asked for', async () => {
  const directory = path.join(host.directory, 'state');
  fs.mkdirSync(directory);
  const options = { files: [directory], processes: true, conntrack: true };
  const before = await takeSnapshot(host.namespace, options);
  fs.writeFileSync(path.join(directory, 'record'), 'x', { mode: 0o600 });
  const sleeper = host.start(['sleep', '1234']);
  const after = await takeSnapshot(host.namespace, { ...options, descriptors: { sleeper: sleeper.pid } });
  const differences = diffSnapshots(before, after).join('\n');
  assert.match(differences, /^\+ files\/.*record \{"content":"x","kind":"file","mode":"600"\}$/m);
  assert.match(differences, /^\+ processes\/sleep 1234 1$/m);
  assert.match(differences, /^\+ descriptors\/sleeper .*"socket":3/m);
  await sleeper.stop();
  assertSameSnapshot(before, after, { ignore: ['descriptors', 'processes', /^files\/.*record$/] });
});

test('a difference is an error that names it', async () => {
  const before = await takeSnapshot(host.namespace);
  await host.run(['ip', 'link', 'set', 'wire1', 'mtu', '1400']);
  const after = await takeSnapshot(host.namespace);
  assert.throws(() => assertSameSnapshot(before, after), /~ links\/wire1 mtu: 1500 → 1400/);
});
