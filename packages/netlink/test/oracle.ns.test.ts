/** Compares what this library reads with what iproute2 reads, of objects that iproute2 made. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import {
  listAddresses,
  listClasses,
  listFilters,
  listForwardingEntries,
  listLinks,
  listNeighbours,
  listQdiscs,
  listRoutes,
  listRules,
  type Route,
} from '@podwire/netlink';
import { assertAgree } from './compliance/environment.js';
import { type PrivateNamespace, withNamespace } from './private-namespace.js';

type Json = Record<string, unknown>;

const run = (program: string, args: readonly string[]): string =>
  execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

const read = (program: string, { name }: PrivateNamespace, ...args: string[]): Json[] =>
  JSON.parse(run(program, ['-n', name, '-j', ...args]) || '[]') as Json[];

/** Commands of ip(8), one a line. */
function make({ name }: PrivateNamespace, program: 'ip' | 'tc' | 'bridge', commands: string): void {
  for (const line of commands.trim().split('\n')) run(program, ['-n', name, ...line.trim().split(/\s+/)]);
}

const wiring = `
  link add br0 type bridge ageing_time 6000 mcast_snooping 0
  link add v0 mtu 1400 address 02:00:00:00:00:01 type veth peer name v1
  link add i0 type ifb
  link add vx0 type vxlan id 77 dstport 4789 local 192.0.2.1 dev v0 nolearning ttl 9
  link add m0 link v0 type macvlan mode private
  link property add dev v0 altname longer-name-of-v0 altname another-long-name
  link set v0 up alias two-words group 7
  link set v1 up master br0
  link set i0 up txqueuelen 77
  link set vx0 addrgenmode none`;

test('links', () => {
  withNamespace((namespace) => {
    make(namespace, 'ip', wiring);
    make(namespace, 'ip', 'tuntap add t0 mode tun');
    const links = listLinks(namespace.connection, { statistics: true });
    const nameOf = (index: unknown) => links.find((link) => link.index === index)?.name;
    const ours = links.map((link) => ({
      ifindex: link.index,
      ifname: link.name,
      up: link.up,
      carrier: link.carrier,
      address: link.mac,
      mtu: link.mtu,
      group: String(link.group),
      txqlen: link.transmitQueueLength,
      master: nameOf(link.master),
      // For all but VXLAN, where it is among the settings.
      link: link.kind === 'vxlan' ? 'v0' : nameOf(link.parent),
      ifalias: link.alias,
      qdisc: link.qdisc,
      altnames: link.alternativeNames.length === 0 ? undefined : link.alternativeNames,
      kind: link.kind,
      mode: link.addressGenerationMode,
      rx: link.statistics?.received.packets,
      tx: link.statistics?.sent.bytes,
    }));
    const theirs = read('ip', namespace, '-N', '-d', '-s', 'link').map((link) => {
      const flags = link['flags'] as string[];
      const { rx, tx } = link['stats64'] as { rx: { packets: number }; tx: { bytes: number } };
      return {
        ifindex: link['ifindex'],
        ifname: link['ifname'],
        up: flags.includes('UP'),
        carrier: flags.includes('LOWER_UP'),
        address: link['address'],
        mtu: link['mtu'],
        group: link['group'],
        txqlen: link['txqlen'],
        master: link['master'],
        link: link['ifname'] === 'vx0' ? 'v0' : link['link'],
        ifalias: link['ifalias'],
        qdisc: link['qdisc'],
        altnames: link['altnames'],
        kind: (link['linkinfo'] as Json | undefined)?.['info_kind'],
        mode: link['inet6_addr_gen_mode'],
        rx: BigInt(rx.packets),
        tx: BigInt(tx.bytes),
      };
    });
    // Counters go on counting; compare them only where nothing is connected.
    const still = (link: (typeof ours)[number] | (typeof theirs)[number]) =>
      ['lo', 'br0', 't0'].includes(String(link.ifname)) ? link : { ...link, rx: 0, tx: 0 };
    assert.deepEqual(ours.map(still), theirs.map(still));
    assert.ok(links.some((link) => link.name === 't0' && link.kind === 'tun' && link.settings === undefined));
    const settings = (name: string) => links.find((link) => link.name === name)?.settings;
    assert.deepEqual(settings('m0'), { kind: 'macvlan', mode: 'private' });
    assert.deepEqual(settings('vx0'), {
      kind: 'vxlan',
      id: 77,
      port: 4789,
      local: '192.0.2.1',
      learning: false,
      underlay: links.find((link) => link.name === 'v0')?.index,
      ttl: 9,
      checksum: true,
    });
    const bridge = settings('br0');
    assert.ok(bridge?.kind === 'bridge' && bridge.ageingTime === 60 && bridge.multicastSnooping === false);
  });
});

test('addresses', () => {
  withNamespace((namespace) => {
    make(
      namespace,
      'ip',
      `link add v0 type veth peer name v1
       link set v0 up
       link set lo up
       addr add 10.0.0.1/24 dev v0 brd + metric 9
       addr add 10.0.0.2/24 dev v0 label v0:x
       addr add 10.7.0.1 peer 10.7.0.2/32 dev v0
       addr add 10.8.0.1/32 dev v0 scope link noprefixroute
       addr add 2001:db8::1/64 dev v0 nodad
       addr add 2001:db8::2 peer 2001:db8:1::/64 dev v0 nodad
       addr add 10.9.0.1/24 dev v0 valid_lft 3000 preferred_lft 0`,
    );
    const links = listLinks(namespace.connection);
    const ours = listAddresses(namespace.connection).map((entry) => ({
      ifname: links.find(({ index }) => index === entry.link)?.name,
      local: entry.address,
      peer: entry.peer,
      broadcast: entry.broadcast,
      scope: String(entry.scope),
      label: entry.label,
      metric: entry.metric,
      secondary: entry.flags.includes('secondary'),
      nodad: entry.flags.includes('noDad'),
      dynamic: !entry.flags.includes('permanent'),
      deprecated: entry.flags.includes('deprecated'),
      noprefixroute: entry.flags.includes('noPrefixRoute'),
      forEver: entry.validLifetime === undefined,
    }));
    const theirs = read('ip', namespace, 'addr').flatMap((link) =>
      (link['addr_info'] as Json[]).map((entry) => ({
        ifname: link['ifname'],
        local: `${entry['local'] as string}/${entry['prefixlen'] as number}`,
        peer: entry['address'],
        broadcast: entry['broadcast'],
        scope: entry['scope'],
        label: entry['label'],
        metric: entry['metric'],
        secondary: entry['secondary'] === true,
        nodad: entry['nodad'] === true,
        dynamic: entry['dynamic'] === true,
        deprecated: entry['deprecated'] === true,
        noprefixroute: entry['noprefixroute'] === true,
        forEver: entry['valid_life_time'] === 0xffffffff,
      })),
    );
    const text = (entry: object) => JSON.stringify(entry);
    assert.deepEqual(ours.map(text).sort(), theirs.map(text).sort());
    const limited = listAddresses(namespace.connection).find(({ address }) => address === '10.9.0.1/24');
    assert.ok(limited!.validLifetime! > 2900 && limited!.validLifetime! <= 3000);
    assert.equal(limited!.preferredLifetime, 0);
  });
});

/** A route as ip(8) writes it, numbers for names. */
function describeRoute(route: Route, nameOf: (index: number | undefined) => string | undefined): Json {
  const isDefault = route.destination.endsWith('/0');
  const bare = route.destination.replace(route.family === 4 ? /\/32$/ : /\/128$/, '');
  return {
    dst: isDefault ? 'default' : bare,
    type: route.type,
    table: route.table,
    protocol: route.protocol,
    scope: route.family === 6 ? undefined : scopes[String(route.scope)],
    dev: nameOf(route.link),
    gateway: route.gateway,
    onlink: route.onlink === true,
    prefsrc: route.preferredSource,
    metric: route.metric,
    mtu: route.mtu,
    nhid: route.nextHopId,
    nexthops: route.nextHops?.map((hop) => `${hop.gateway} ${nameOf(hop.link)} ${hop.weight}`),
  };
}

const scopes: Partial<Record<string, number>> = { global: 0, site: 200, link: 253, host: 254, nowhere: 255 };

/** The same of what ip(8) prints with -N. */
function describeTheirs(route: Json, family: 4 | 6): Json {
  const gateway = (hop: Json) => hop['gateway'] ?? (hop['via'] as { host: string } | undefined)?.host;
  const hops = route['nexthops'] as Json[] | undefined;
  const [metrics] = (route['metrics'] ?? []) as Json[];
  const types = ['unspecified', 'unicast', 'local', 'broadcast', 'anycast', 'multicast'];
  types.push('blackhole', 'unreachable', 'prohibit', 'throw', 'nat');
  const type = route['type'] ?? 'unicast';
  return {
    dst: route['dst'],
    type: types[Number(type)] ?? type,
    table: Number(route['table'] ?? 254),
    protocol: Number(route['protocol'] ?? 3),
    scope: family === 6 ? undefined : Number(route['scope'] ?? 0),
    dev: route['dev'],
    gateway: gateway(route),
    onlink: (route['flags'] as string[]).includes('onlink'),
    prefsrc: route['prefsrc'],
    metric: route['metric'],
    mtu: metrics?.['mtu'],
    nhid: route['nhid'],
    nexthops: hops?.map(
      (hop) => `${gateway(hop) as string} ${hop['dev'] as string} ${hop['weight'] as number}`,
    ),
  };
}

test('routes', () => {
  withNamespace((namespace) => {
    make(
      namespace,
      'ip',
      `link add v0 type veth peer name v1
       link set lo up
       link set v0 up
       link set v1 up
       addr add 10.0.0.1/24 dev v0
       addr add 2001:db8::1/64 dev v0 nodad
       nexthop add id 5 via 10.0.0.9 dev v0
       route add 10.9.0.0/16 nhid 5
       route add 10.8.0.0/16 via 10.0.0.3 mtu 1300 advmss 900 table 77 proto 186 metric 9 src 10.0.0.1
       route add 10.10.0.0/16 via inet6 fe80::7 dev v0
       route add 10.11.0.0/16 nexthop via 10.0.0.3 weight 2 nexthop via 10.0.0.4
       route add 10.12.0.0/16 via 203.0.113.1 dev v1 onlink
       route add 10.15.1.1/32 dev v1 table 70000
       route add default via 10.0.0.254
       route add prohibit 10.13.0.0/16
       route add throw 10.14.0.0/16 table 77
       route add 2001:db8:5::/64 nexthop via 2001:db8::5 nexthop via 2001:db8::6 weight 4
       route add 2001:db8:6::7/128 dev v1 mtu 1280
       route add blackhole 2001:db8:7::/48
       route add default via fe80::1 dev v0 metric 55`,
    );
    const links = listLinks(namespace.connection);
    const nameOf = (index: number | undefined) => links.find((link) => link.index === index)?.name;
    for (const family of [4, 6] as const) {
      const ours = () =>
        listRoutes(namespace.connection, { family }).map((route) => describeRoute(route, nameOf));
      const theirs = () =>
        read('ip', namespace, '-N', `-${family}`, 'route', 'show', 'table', 'all').map((route) =>
          describeTheirs(route, family),
        );
      assertAgree(ours, theirs);
    }
  });
});

test('rules', () => {
  withNamespace((namespace) => {
    make(
      namespace,
      'ip',
      `rule add pref 50 from 10.0.0.0/8 fwmark 3/7 iif v0 table 77
       rule add pref 51 to 10.9.0.0/16 unreachable
       rule add pref 52 ipproto tcp dport 80 table 70000
       rule add pref 53 not fwmark 9 oif v1 suppress_prefixlength 8 table 254
       -6 rule add pref 54 from 2001:db8::/32 table 77`,
    );
    const shorten = (prefix: string | undefined) => prefix?.replace(/\/(32|128)$/, '');
    for (const family of [4, 6] as const) {
      const ours = listRules(namespace.connection, { family }).map((rule) => ({
        priority: rule.priority,
        src: rule.from ?? 'all',
        dst: shorten(rule.to),
        table: rule.table,
        mark: rule.mark ?? 0,
        iif: rule.inputLink,
        oif: rule.outputLink,
        not: rule.invert === true,
        suppress: rule.suppressPrefixLength,
        action: rule.action === 'table' ? undefined : rule.action,
      }));
      const prefix = (rule: Json, key: string) =>
        rule[`${key}len`] === undefined ? rule[key] : `${rule[key] as string}/${rule[`${key}len`] as number}`;
      const theirs = read('ip', namespace, '-N', `-${family}`, 'rule').map((rule) => ({
        priority: rule['priority'],
        src: prefix(rule, 'src'),
        dst: prefix(rule, 'dst'),
        table: Number(rule['table'] ?? 0),
        mark: Number(rule['fwmark'] ?? 0),
        iif: rule['iif'],
        oif: rule['oif'],
        not: 'not' in rule,
        suppress: rule['suppress_prefixlen'],
        action: rule['action'] === '7' ? 'unreachable' : rule['action'],
      }));
      assert.deepEqual(ours, theirs);
    }
  });
});

test('neighbours and forwarding entries', () => {
  withNamespace((namespace) => {
    make(namespace, 'ip', wiring);
    make(
      namespace,
      'ip',
      `neigh add 10.0.0.9 lladdr 02:00:00:00:00:09 dev v0
       neigh add 10.0.0.8 lladdr 02:00:00:00:00:08 dev v0 nud stale
       neigh add 2001:db8::9 lladdr 02:00:00:00:00:0a dev v0 router nud noarp`,
    );
    make(
      namespace,
      'bridge',
      `fdb add 02:00:00:00:00:11 dev v1 master static
       fdb append 00:00:00:00:00:00 dev vx0 dst 192.0.2.7 port 4790 vni 9
       fdb append 00:00:00:00:00:00 dev vx0 dst 192.0.2.8`,
    );
    const links = listLinks(namespace.connection);
    const nameOf = (index: number | undefined) => links.find((link) => link.index === index)?.name;
    const neighbours = () =>
      listNeighbours(namespace.connection).map(({ link, address, mac, state, router }) => ({
        dst: address,
        dev: nameOf(link),
        lladdr: mac,
        router: router === true,
        state: String(state).toUpperCase(),
      }));
    const theirNeighbours = () =>
      read('ip', namespace, 'neigh', 'show', 'nud', 'all').map((entry) => ({
        dst: entry['dst'],
        dev: entry['dev'],
        lladdr: entry['lladdr'],
        router: 'router' in entry,
        state: (entry['state'] as string[])[0],
      }));
    assertAgree(neighbours, theirNeighbours);
    const entries = () =>
      listForwardingEntries(namespace.connection).map((entry) => ({
        mac: entry.mac,
        ifname: nameOf(entry.link),
        self: entry.table === 'self',
        master: nameOf(entry.master),
        dst: entry.remote,
        port: entry.port,
        vni: entry.vni,
        permanent: entry.permanent,
      }));
    const theirEntries = () =>
      read('bridge', namespace, 'fdb', 'show').map((entry) => ({
        mac: entry['mac'],
        ifname: entry['ifname'],
        self: (entry['flags'] as string[]).includes('self'),
        master: entry['master'],
        dst: entry['dst'],
        port: entry['port'],
        vni: entry['vni'],
        permanent: entry['state'] === 'permanent',
      }));
    assertAgree(entries, theirEntries);
  });
});

test('qdiscs, classes and filters of all kinds', () => {
  withNamespace((namespace) => {
    make(namespace, 'ip', wiring);
    make(
      namespace,
      'tc',
      `qdisc add dev v0 root handle 1: htb default 10
       class add dev v0 parent 1: classid 1:1 htb rate 10mbit ceil 20mbit burst 15k
       class add dev v0 parent 1:1 classid 1:10 htb rate 5mbit prio 2
       qdisc add dev v0 parent 1:10 handle 20: pfifo limit 33
       filter add dev v0 parent 1: protocol ip prio 5 u32 match ip dst 10.0.0.1/32 flowid 1:10
       qdisc add dev v0 ingress
       filter add dev v0 ingress prio 7 u32 match u32 0 0 action mirred egress redirect dev i0
       qdisc add dev v1 root handle 5: pfifo_fast
       qdisc add dev i0 root tbf rate 8mbit burst 20000 limit 40000
       qdisc add dev br0 clsact
       filter add dev br0 egress prio 8 u32 match u32 0 0 action mirred egress mirror dev i0`,
    );
    const links = listLinks(namespace.connection);
    const indexOf = (name: string) => links.find((link) => link.name === name)!.index;
    const nameOf = (index: number) => links.find((link) => link.index === index)?.name;
    const handle = (value: number) => `${(value >>> 16).toString(16)}:`;
    const ours = listQdiscs(namespace.connection).map(({ link, kind, handle: major }) => ({
      dev: nameOf(link),
      kind,
      handle: handle(major),
    }));
    const theirs = read('tc', namespace, 'qdisc').filter(({ kind }) => kind !== 'noqueue');
    assert.deepEqual(
      ours,
      theirs.map((qdisc) => ({ dev: qdisc['dev'], kind: qdisc['kind'], handle: qdisc['handle'] })),
    );
    const bucket = listQdiscs(namespace.connection, { link: indexOf('i0') })[0]?.settings;
    assert.deepEqual(bucket, { kind: 'tbf', rate: 8_000_000, burst: 20_000, limit: 40_000 });
    const classes = listClasses(namespace.connection, { link: indexOf('v0') });
    const leaf = classes.find((entry) => entry.handle === 0x10010);
    assert.deepEqual([leaf?.settings?.rate, leaf?.settings?.priority], [5_000_000, 2]);
    const inner = classes.find((entry) => entry.handle === 0x10001);
    assert.deepEqual([inner?.settings?.ceil, inner?.settings?.burst], [20_000_000, 15 * 1024]);
    const [byAddress] = listFilters(namespace.connection, { link: indexOf('v0'), parent: 0x10000 });
    assert.deepEqual(byAddress?.settings, {
      keys: [{ value: 0x0a000001, mask: 0xffffffff, offset: 16 }],
      classId: 0x10010,
      actions: [],
    });
    const [redirect] = listFilters(namespace.connection, { link: indexOf('v0') });
    const action = { kind: 'mirred', target: indexOf('i0'), direction: 'egress' };
    assert.deepEqual(redirect?.settings, { keys: [{ value: 0, mask: 0, offset: 0 }], actions: [action] });
    const [mirror] = listFilters(namespace.connection, { link: indexOf('br0'), parent: 0xfffffff3 });
    assert.deepEqual([mirror?.priority, mirror?.settings?.actions], [8, [{ ...action, mirror: true }]]);
  });
});
