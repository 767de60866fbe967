/** Debian's CNI plugins (containernetworking-plugins 1.1.1), driven by our runtime library. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { convertResult, type Result1, type Runtime } from '@podwire/cni';
import {
  assertSameSnapshot,
  createHostRuntime,
  createPrivateHost,
  networkOf,
  pings,
  type PrivateHost,
  reaches,
  serveEcho,
  type Snapshot,
  takeSnapshot,
  worldAddresses,
} from '@podwire/testkit';

let host: PrivateHost;
let runtime: Runtime;

before(async () => {
  host = await createPrivateHost({ name: 'deb', world: true });
  await host.run(['sysctl', '-q', '-w', 'net.ipv4.ip_forward=1', 'net.ipv4.conf.all.route_localnet=1']);
  runtime = createHostRuntime(host, { pluginPath: ['/usr/lib/cni'] });
});
after(() => host.close());

const hostLocal = (...subnets: readonly string[]): object => ({
  type: 'host-local',
  dataDir: path.join(host.directory, 'host-local'),
  ranges: subnets.map((subnet) => [{ subnet }]),
  routes: [{ dst: '0.0.0.0/0' }],
});

/** What Debian's plugins never take away again: chains of iptables, the bridge, forwarding and what follows from it. */
const remains = [
  /^nftables\//,
  /^(links|addresses|routes|qdiscs|fdb)\/.*cni0/,
  /^sysctls\//,
  /^routes\/anycast /,
];

const link = (snapshot: Snapshot, name: string): Record<string, unknown> =>
  (snapshot['links']?.[name] ?? {}) as Record<string, unknown>;

test('ptp with host-local: the result field by field, CHECK, DEL', async () => {
  const network = networkOf('wire', '1.0.0', [{ type: 'ptp', mtu: 1400, ipam: hostLocal('10.70.0.0/24') }]);
  const pod = host.addPod();
  const attachment = { containerId: 'wire-1', netns: pod.path, interfaceName: 'eth0' };
  const before = await takeSnapshot(host.namespace);

  const result = (await runtime.add(network, attachment)) as Result1;
  const [hostEnd, podEnd] = result.interfaces ?? [];
  const [onHost, inPod] = [await takeSnapshot(host.namespace), await takeSnapshot(pod)];
  assert.deepEqual(result, {
    cniVersion: '1.0.0',
    interfaces: [
      { name: hostEnd?.name, mac: link(onHost, hostEnd?.name ?? '')['address'] },
      { name: 'eth0', mac: link(inPod, 'eth0')['address'], sandbox: pod.path },
    ],
    ips: [{ interface: 1, address: '10.70.0.2/24', gateway: '10.70.0.1' }],
    routes: [{ dst: '0.0.0.0/0' }],
    dns: {},
  });
  assert.equal(link(inPod, 'eth0')['mtu'], 1400);
  assert.match(podEnd?.mac ?? '', /^[0-9a-f:]{17}$/);
  assert.equal(await pings(host.namespace, '10.70.0.2'), true);
  await runtime.check(network, attachment);

  await pod.ip('address flush dev eth0');
  await assert.rejects(runtime.check(network, attachment), /10\.70\.0\.2|eth0/);

  assert.deepEqual(await runtime.del(network, attachment), { configuration: 'cached' });
  assertSameSnapshot(before, await takeSnapshot(host.namespace), { ignore: remains });
  assert.deepEqual(await runtime.attachments(), []);
});

test('bridge, portmap, bandwidth, firewall and tuning in one chain', async () => {
  const ipam = hostLocal('10.71.0.0/24', 'fd71::/64');
  const plugins = [
    { type: 'bridge', bridge: 'cni0', isGateway: true, ipMasq: true, ipam },
    { type: 'portmap', snat: true, capabilities: { portMappings: true } },
    { type: 'bandwidth', capabilities: { bandwidth: true } },
    { type: 'firewall' },
    { type: 'tuning', sysctl: { 'net.ipv4.conf.eth0.arp_notify': '1' }, capabilities: { mac: true } },
  ];
  const network = networkOf('chain', '1.0.0', plugins);
  const pod = host.addPod();
  const attachment = {
    containerId: 'chain-1',
    netns: pod.path,
    interfaceName: 'eth0',
    capabilityArgs: {
      portMappings: [{ hostPort: 8080, containerPort: 80, protocol: 'tcp' }],
      bandwidth: {
        ingressRate: 8_000_000,
        ingressBurst: 800_000,
        egressRate: 4_000_000,
        egressBurst: 400_000,
      },
      mac: '02:00:00:00:07:01',
    },
  };
  const before = await takeSnapshot(host.namespace);
  const result = (await runtime.add(network, attachment)) as Result1;
  assert.deepEqual(
    result.interfaces?.map(({ name, sandbox }) => [name.replace(/^(veth|bwp).*/, '$1'), sandbox]),
    [
      ['cni0', undefined],
      ['veth', undefined],
      ['eth0', pod.path],
      ['bwp', undefined],
    ],
  );
  assert.equal(result.interfaces?.[2]?.mac, '02:00:00:00:07:01');
  assert.deepEqual(result.ips, [
    { interface: 2, address: '10.71.0.2/24', gateway: '10.71.0.1' },
    { interface: 2, address: 'fd71::2/64', gateway: 'fd71::1' },
  ]);
  const older = convertResult(result, '0.2.0');
  assert.deepEqual([older.ip4?.ip, older.ip6?.ip], ['10.71.0.2/24', 'fd71::2/64']);

  const during = await takeSnapshot(host.namespace);
  const buckets = Object.entries(during['qdiscs'] ?? {}).filter(([key]) => key.endsWith(' root tbf'));
  assert.deepEqual(
    buckets.map(([, value]) => (value as { options: { rate: number } }).options.rate).sort((a, b) => a - b),
    [500_000, 1_000_000],
    'bytes per second of the two token buckets',
  );
  assert.equal(await pod.run(['cat', '/proc/sys/net/ipv4/conf/eth0/arp_notify']), '1\n');
  const server = await serveEcho(pod, 'tcp', '0.0.0.0', 80);
  const world = host.world ?? assert.fail('a world');
  assert.equal(await reaches(world, 'tcp', worldAddresses.host.ipv4, 8080), true);
  assert.equal(await reaches(host.namespace, 'tcp', '127.0.0.1', 8080), true);
  assert.equal(await pings(pod, worldAddresses.beyond.ipv4), true);
  await server.close();
  // The CHECK of portmap 1.1.1 looks for the rules of one family in the tables of the other, and always fails.
  await assert.rejects(runtime.check(network, attachment), /portmap.*ipv6 dnat/);
  const others = networkOf(
    'chain',
    '1.0.0',
    plugins.filter(({ type }) => type !== 'portmap'),
  );
  await runtime.check(others, attachment, { configuration: 'given' });

  await runtime.del(network, attachment);
  await runtime.del(network, attachment);
  assertSameSnapshot(before, await takeSnapshot(host.namespace), { ignore: remains });
  assert.equal(await reaches(world, 'tcp', worldAddresses.host.ipv4, 8080, { timeout: 200 }), false);
});

test('macvlan with static addresses', async () => {
  const ipam = { type: 'static', addresses: [{ address: '192.0.2.77/24' }] };
  const network = networkOf('vlan', '1.0.0', [{ type: 'macvlan', master: 'eth0', mode: 'bridge', ipam }]);
  const pod = host.addPod();
  const attachment = { containerId: 'vlan-1', netns: pod.path, interfaceName: 'net1' };
  const result = (await runtime.add(network, attachment)) as Result1;
  assert.deepEqual(result.ips, [{ interface: 0, address: '192.0.2.77/24' }]);
  assert.equal(link(await takeSnapshot(pod), 'net1')['mtu'], 1500);
  assert.equal(await pings(pod, worldAddresses.world.ipv4), true);
  await runtime.check(network, attachment);
  await runtime.del(network, attachment);
  assert.equal(link(await takeSnapshot(pod), 'net1')['mtu'], undefined);
});

test('loopback, in the oldest version it speaks', async () => {
  const network = networkOf('lo', '0.3.1', [{ type: 'loopback' }]);
  const pod = host.addPod();
  const attachment = { containerId: 'lo-1', netns: pod.path, interfaceName: 'lo' };
  await runtime.add(network, attachment);
  assert.equal(link(await takeSnapshot(pod), 'lo')['up'], true);
  await runtime.del(network, attachment);
  assert.equal(link(await takeSnapshot(pod), 'lo')['up'], false);
});

test('a failing chain is rolled back, and host-local has its address again', async () => {
  const rollingBack = createHostRuntime(host, { pluginPath: ['/usr/lib/cni'], rollback: true });
  const plugins = [
    { type: 'ptp', ipam: hostLocal('10.72.0.0/24') },
    { type: 'tuning', sysctl: { 'net.ipv4.conf.eth0.no_such_thing': '1' } },
  ];
  const network = networkOf('failing', '1.0.0', plugins);
  const pod = host.addPod();
  const attachment = { containerId: 'failing-1', netns: pod.path, interfaceName: 'eth0' };
  const before = await takeSnapshot(host.namespace);
  await assert.rejects(rollingBack.add(network, attachment), /tuning.*no_such_thing/s);
  assertSameSnapshot(before, await takeSnapshot(host.namespace), { ignore: remains });
  const leases = fs.readdirSync(path.join(host.directory, 'host-local/failing'));
  assert.deepEqual(
    leases.filter((name) => name.startsWith('10.')),
    [],
  );
});

test('GC deletes what nobody wants any more, from the cache', async () => {
  const network = networkOf('garbage', '1.0.0', [{ type: 'ptp', ipam: hostLocal('10.73.0.0/24') }]);
  const before = await takeSnapshot(host.namespace);
  for (const containerId of ['garbage-1', 'garbage-2']) {
    await runtime.add(network, { containerId, netns: host.addPod().path, interfaceName: 'eth0' });
  }
  await runtime.gc(network, [{ containerId: 'garbage-2', interfaceName: 'eth0' }]);
  assert.deepEqual(await runtime.attachments('garbage-1'), []);
  assert.equal(await pings(host.namespace, '10.73.0.3'), true);
  await runtime.gc(network, []);
  assertSameSnapshot(before, await takeSnapshot(host.namespace), { ignore: remains });
});
