/** Everything on the uplink of a node moves to its bridge and back, as iproute2 shows it. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import type { FaultPoints, Owned } from '@podwire/engine';
import { until } from '@podwire/testkit';
import { crashAt, ignoringCrash, pointsOf } from './crashes.js';
import { call, createEngineHost, type EngineHost } from './fixture.js';

const owned: Owned = {
  owner: 'ovn-provider/net1',
  resources: [{ kind: 'uplink-moved', in: 'host', from: 'eth1', to: 'br-net1' }],
};

let bench: EngineHost;
const ip = async (...commands: string[]): Promise<void> => bench.host.namespace.ip(...commands);
const show = async (command: string): Promise<string> =>
  bench.host.namespace.run(['ip', ...command.split(' ')]);

before(async () => {
  bench = await createEngineHost('uplink');
});
after(async () => bench?.close());

beforeEach(async () => {
  const old = await show('-j link');
  for (const { ifname } of JSON.parse(old) as { ifname: string }[])
    if (/^(eth|br-net)\d$/.test(ifname)) await ip(`link delete ${ifname}`);
  for (const family of ['-4', '-6']) await show(`${family} rule flush`);
  await ip('rule add lookup main priority 32766', 'rule add lookup default priority 32767');
  await show('-6 rule add lookup main priority 32766');
  await ip(
    'link add eth1 type veth peer name wire',
    'link add eth2 type veth peer name wire2',
    'link add br-net1 type bridge',
    ...['eth1', 'wire', 'eth2', 'wire2', 'br-net1'].flatMap((link) => [
      `link set ${link} addrgenmode none`,
      `link set ${link} up`,
    ]),
    'address add 172.16.0.1/24 dev eth2',
    'address add fd00:16::1/64 dev eth2 nodad',
  );
  await ip(...addresses, ...routes, ...rules);
  await show('-6 rule add iif eth1 lookup 1077 priority 902');
});

const addresses = [
  'address add 192.0.2.10/24 broadcast + dev eth1 metric 40',
  'address add 192.0.2.11/24 dev eth1 label eth1:1',
  'address add 198.51.100.5 peer 198.51.100.1/32 dev eth1',
  'address add 203.0.113.9/24 dev eth1 noprefixroute valid_lft 3600 preferred_lft 1800',
  'address add 127.0.7.1/32 dev eth1 scope host',
  'address add 2001:db8:2::10/64 dev eth1 nodad',
  'address add 2001:db8:2::11/64 dev eth1 home nodad valid_lft 7200 preferred_lft 0',
  'address change 2001:db8:2::10/64 dev eth1',
  'address add fd00:2::5/128 dev eth1 nodad noprefixroute',
  'address add fd00:3::5/64 dev eth1 nodad mngtmpaddr metric 77',
  'address add fe80::7/64 dev eth1 nodad',
];

const routes = [
  'route add 203.0.113.0/24 dev eth1 proto kernel scope link src 203.0.113.9 metric 100',
  'route add default via 192.0.2.1 dev eth1 src 192.0.2.11 metric 100',
  'route add default via 10.255.255.1 dev eth1 onlink metric 200 mtu lock 1400 advmss 1300 initcwnd 20',
  'route add 10.9.0.0/16 via 192.0.2.1 proto bird tos 0x10 realm 7',
  'route add 10.8.0.0/16 dev eth1 scope link table 1077',
  'route add 10.7.0.0/16 nexthop via 192.0.2.1 dev eth1 weight 3 nexthop via 172.16.0.9 dev eth2',
  'route add 10.6.0.0/16 via inet6 2001:db8:2::1 dev eth1',
  'route add local 10.5.0.0/16 dev eth1 table local',
  'route add ::/0 via 2001:db8:2::1 dev eth1 src 2001:db8:2::10 metric 300 pref high',
  'route add fd00:9::/64 via 2001:db8:2::1 dev eth1 expires 900 mtu 1300',
  'route add fd00:8::/64 nexthop via 2001:db8:2::7 dev eth1 nexthop via fd00:16::9 dev eth2',
  'route add fd00:7::/64 dev eth1',
];

const rules = [
  'rule add iif eth1 lookup 1077 priority 900',
  'rule add not oif eth1 from 10.1.0.0/16 fwmark 0x10/0xf0 ipproto tcp dport 80 lookup 1077 priority 901',
];

interface Entry {
  readonly [key: string]: unknown;
}

/** Seconds that are left, to the next hundred: they go by. */
function withoutSeconds(key: string, value: unknown): unknown {
  const isCounting = /_life_time$|^expires$/.test(key) && typeof value === 'number' && value < 1e9;
  return isCounting ? Math.ceil(value / 100) * 100 : value;
}

const read = async (command: string): Promise<Entry[]> =>
  JSON.parse(await show(command), withoutSeconds) as Entry[];

/** The kernel lists routes of IPv6 to the same place in the order in which they came. */
function sortHops(route: Entry): Entry {
  const { nexthops } = route;
  if (!Array.isArray(nexthops)) return route;
  return { ...route, nexthops: nexthops.map((hop) => JSON.stringify(hop)).sort() };
}

interface State {
  readonly addresses: Readonly<Record<string, readonly Entry[]>>;
  readonly routes: readonly Entry[];
  readonly rules: readonly Entry[];
}

/** The node as iproute2 shows it, without that which the kernel gives each link by itself. */
async function lookNow(): Promise<State> {
  const links = await read('-j address');
  const addresses = links.map(({ ifname, addr_info: entries }) => [
    ifname,
    (entries as Entry[]).filter(({ local }) => local !== 'fe80::7'),
  ]);
  const routes = [...(await read('-j route show table all')), ...(await read('-j -6 route show table all'))];
  return {
    addresses: Object.fromEntries(addresses) as State['addresses'],
    routes: routes
      .filter(({ type, dst }) => type !== 'multicast' && !String(dst).startsWith('fe80:'))
      .map(sortHops),
    rules: [...(await read('-j rule')), ...(await read('-j -6 rule'))],
  };
}

/** A worker of the kernel makes addresses of IPv6 local a moment later, and announces nothing of it that is not there before. */
const look = async (): Promise<State> =>
  until('local routes of all addresses', async () => {
    const state = await lookNow();
    const isLocal = ({ local }: Entry): boolean =>
      state.routes.some(({ type, dst }) => type === 'local' && dst === local);
    return Object.values(state.addresses).flat().every(isLocal) && state;
  });

/** The same with the contents of the uplink on a bridge. */
function exchanged(state: State, bridge = 'br-net1'): unknown {
  const text = JSON.stringify(state)
    .replaceAll('eth1', 'BRIDGE')
    .replaceAll(bridge, 'eth1')
    .replaceAll('BRIDGE', bridge);
  return JSON.parse(text);
}

test('addresses, routes and rules are on the bridge as they were on the uplink, and come back the same', async () => {
  const before = await look();
  await bench.engine.apply(owned, call());
  assert.deepEqual(await bench.engine.verify(owned, call()), []);
  assert.match(await show('-6 address show dev eth1'), /fe80::7/);
  assert.deepEqual(await look(), exchanged(before));
  await bench.engine.remove(owned, call());
  assert.deepEqual(await look(), before);
});

test('a crash at any point leaves the old state or the new one, and both are finished both ways', async () => {
  const before = await look();
  await bench.engine.apply(owned, call());
  const moved = await look();
  const apply = async (faults: FaultPoints): Promise<void> =>
    bench.restart({ faults, single: true }).apply(owned, call());
  const remove = async (faults: FaultPoints): Promise<void> =>
    bench.restart({ faults, single: true }).remove(owned, call());
  const points = [
    ...(await pointsOf(remove)).map((point) => [point, remove] as const),
    ...(await pointsOf(apply)).map((point) => [point, apply] as const),
  ];
  assert.ok(points.length >= 4, `only ${points.length} points`);
  for (const [point, work] of points) {
    for (const [finish, end] of [
      [apply, moved],
      [remove, before],
    ] as const) {
      await (work === apply ? remove : apply)(crashAt(undefined));
      await ignoringCrash(work(crashAt(point)));
      const left = JSON.stringify(await look());
      assert.ok(
        [before, moved].some((state) => JSON.stringify(state) === left),
        point,
      );
      await finish(crashAt(undefined));
      assert.deepEqual(await look(), end, point);
    }
  }
});

test('what is put onto the uplink again is found, and moved again', async () => {
  await bench.engine.apply(owned, call());
  const moved = await look();
  await ip(
    'address add 192.0.2.10/24 broadcast + dev eth1 metric 40',
    'route append default via 192.0.2.1 dev eth1 src 192.0.2.11 metric 100',
    'rule add iif eth1 lookup 1077 priority 900',
  );
  const [drift] = await bench.engine.verify(owned, call());
  assert.match(drift?.detail ?? '', /^eth1 has the address 192\.0\.2\.10\/24 and \d+ more$/);
  const changes = await bench.engine.reconcile([owned], call());
  assert.deepEqual(
    changes.map(({ action }) => action),
    ['repaired'],
  );
  assert.deepEqual(await look(), moved);
  assert.deepEqual(await bench.engine.reconcile([owned], call()), []);
});

test('a process that has lost every file moves everything back before the bridge goes', async () => {
  const before = await look();
  await bench.engine.apply(owned, call());
  const kept = await bench.engine.reconcile([owned], call());
  const changes = await bench.restart().reconcile([], call());
  assert.deepEqual(
    [...kept, ...changes].map(({ action, what }) => `${action} ${what}`),
    ['removed uplink eth1 on br-net1'],
  );
  assert.deepEqual(await look(), before);
  assert.deepEqual(await bench.restart().reconcile([], call()), []);
});

test('another bridge after a restart takes everything from the one before it', async () => {
  await ip('link add br-net2 type bridge', 'link set br-net2 addrgenmode none', 'link set br-net2 up');
  const before = await look();
  await bench.engine.apply(owned, call());
  const renamed: Owned = {
    owner: 'ovn-provider/net2',
    resources: [{ kind: 'uplink-moved', in: 'host', from: 'eth1', to: 'br-net2' }],
  };
  const changes = await bench.restart().reconcile([renamed], call());
  assert.deepEqual(
    changes.map(({ action, what }) => `${action} ${what}`),
    ['repaired uplink eth1 on br-net2'],
  );
  assert.deepEqual(await look(), exchanged(before, 'br-net2'));
  await bench.engine.remove(renamed, call());
  assert.deepEqual(await look(), before);
});

test('a bridge that refuses an address leaves everything on the uplink', async () => {
  await bench.host.run(['sysctl', '-qw', 'net.ipv6.conf.br-net1.disable_ipv6=1']);
  const before = await look();
  await assert.rejects(bench.engine.apply(owned, call()), {
    code: 'UPLINK_NOT_MOVED',
    message:
      /^what is on eth1 cannot be moved to br-net1: put address \S+ onto br-net1: \w+ .*; all was put back$/,
  });
  assert.deepEqual(await look(), before);
});

test('a route with a next-hop object is refused before anything moves', async () => {
  await ip('nexthop add id 7 via 192.0.2.1 dev eth1', 'route add 10.4.0.0/16 nhid 7');
  const before = await look();
  await assert.rejects(bench.engine.apply(owned, call()), {
    code: 'UPLINK_NOT_MOVED',
    message: /the route to 10\.4\.0\.0\/16 has the next-hop object 7/,
  });
  assert.deepEqual(await look(), before);
});

test('a link that is gone keeps nothing else from being removed', async () => {
  await bench.engine.apply(owned, call());
  await ip('link delete eth1');
  assert.deepEqual(await bench.engine.verify(owned, call()), []);
  await bench.engine.apply(owned, call());
  await bench.engine.remove(owned, call());
  await ip('link delete br-net1');
  const [drift] = await bench.engine.verify(owned, call());
  assert.deepEqual([drift?.state, drift?.detail], ['missing', 'there is no link br-net1']);
  await bench.engine.remove(owned, call());
});
