import assert from 'node:assert/strict';
import fs from 'node:fs';
import { after, before, describe, test } from 'node:test';
import {
  ask,
  assertRefused,
  assertSameSnapshot,
  reaches,
  serveEcho,
  takeSnapshot,
  type TestNamespace,
  worldAddresses,
} from '@podwire/testkit';
import { PluginError } from '../src/index.js';
import {
  addTo,
  attachmentOf,
  createDebianHost,
  type DebianHost,
  linkOf,
  linksOf,
  networkOf,
  qdiscsOf,
} from './support/debian.js';

let kit: DebianHost;
before(() => setUp());
after(() => kit.host.close());

async function setUp(programs?: readonly string[]): Promise<void> {
  kit = await createDebianHost({ name: 'chain', world: true, ...(programs && { programs }) });
  kit.host.namespace.inside(() => {
    for (const key of ['ipv4/ip_forward', 'ipv6/conf/all/forwarding'])
      fs.writeFileSync(`/proc/sys/net/${key}`, '1');
  });
}

const ptp = () => ({
  type: 'ptp',
  ipam: kit.hostLocal('10.93.0.0/24', { routes: [{ dst: '0.0.0.0/0' }] }),
});
const withCapability = (type: string, capability: string, more = {}) => ({
  type,
  capabilities: { [capability]: true },
  ...more,
});

/** ADD, the given work, DEL; then the host's links, addresses, routes, qdiscs must be as before, and no lease left. */
async function attached(
  plugins: readonly object[],
  capabilityArgs: Record<string, unknown>,
  work: (
    pod: TestNamespace,
    result: Awaited<ReturnType<typeof addTo>>,
    check: () => Promise<void>,
  ) => Promise<void>,
): Promise<void> {
  const pod = kit.host.addPod();
  const network = networkOf('chain', plugins);
  const attachment = attachmentOf(pod, { capabilityArgs });
  const earlier = await takeSnapshot(kit.host.namespace);
  const result = await addTo(kit, network, attachment);
  await work(pod, result, () => kit.runtime.check(network, attachment));
  // Without capability arguments, as kubelet calls it for bandwidth: the cached ones are what counts.
  await kit.runtime.del(network, { containerId: pod.name, interfaceName: 'eth0' });
  // Chains that iptables plugins set up once for all pods stay; rules of a pod are looked at by the tests.
  assertSameSnapshot(earlier, await takeSnapshot(kit.host.namespace), {
    ignore: ['nftables', /route_localnet/],
  });
  assert.deepEqual(
    (await linksOf(pod)).map(({ ifname }) => ifname),
    ['lo'],
  );
  assert.deepEqual(kit.leases('chain'), []);
  assert.deepEqual(kit.cached(), []);
  kit.host.removePod(pod);
}

const rules = (table: string) => kit.host.run(['iptables', '-t', table, '-S']);

test('bandwidth: token buckets of the rates that were asked for, in both directions', async () => {
  const bandwidth = {
    ingressRate: 8_000_000,
    ingressBurst: 800_000,
    egressRate: 16_000_000,
    egressBurst: 1_600_000,
  };
  await attached(
    [ptp(), withCapability('bandwidth', 'bandwidth')],
    { bandwidth },
    async (_pod, result, check) => {
      const veth = result.interfaces?.find(({ sandbox }) => sandbox === undefined)?.name ?? '';
      const shaped = (await qdiscsOf(kit.host.namespace)).filter(({ kind }) => kind === 'tbf');
      // tc speaks of bytes a second; ingress is towards the pod, which is out of the host's end.
      const rateOf = (dev: string) => shaped.find((one) => one.dev === dev)?.options?.['rate'];
      assert.equal(rateOf(veth), 1_000_000);
      const other = shaped.find(({ dev }) => dev !== veth);
      assert.equal(other?.options?.['rate'], 2_000_000);
      assert.equal((await linkOf(kit.host.namespace, other?.dev ?? '')).linkinfo?.info_kind, 'ifb');
      await check();
    },
  );
});

test('firewall: the pod’s addresses are let through, and its rules go with it', async () => {
  await attached([ptp(), { type: 'firewall', backend: 'iptables' }], {}, async (_pod, result, check) => {
    const address = result.ips?.[0]?.address.split('/')[0] ?? '';
    const filter = await rules('filter');
    assert.ok(
      filter.includes(`-A CNI-FORWARD -d ${address}/32 -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT`),
    );
    assert.ok(filter.includes(`-A CNI-FORWARD -s ${address}/32 -j ACCEPT`));
    await check();
  });
  assert.doesNotMatch(await rules('filter'), /10\.93\.0/);
});

describe('tuning', () => {
  test('changes hardware address, MTU and sysctls; the result says what is now', async () => {
    const mac = 'c2:11:22:33:44:55';
    const tuning = withCapability('tuning', 'mac', {
      mtu: 1300,
      sysctl: { 'net.ipv4.conf.eth0.arp_notify': '1' },
    });
    await attached([ptp(), tuning], { mac }, async (pod, result, check) => {
      const link = await linkOf(pod, 'eth0');
      assert.equal(link.address, mac);
      assert.equal(link.mtu, 1300);
      assert.equal(result.interfaces?.find(({ sandbox }) => sandbox !== undefined)?.mac, mac);
      const value = pod.inside(() => fs.readFileSync('/proc/sys/net/ipv4/conf/eth0/arp_notify', 'utf8'));
      assert.equal(value, '1\n');
      await check();
      await pod.ip('link set eth0 mtu 1400');
      await assert.rejects(check(), (error) => error instanceof PluginError && error.plugin === 'tuning');
    });
  });
});

test('all of them in one chain, in this order and back', async () => {
  const plugins = [
    ptp(),
    { type: 'tuning', mtu: 1350 },
    { type: 'firewall', backend: 'iptables' },
    withCapability('bandwidth', 'bandwidth'),
    withCapability('portmap', 'portMappings'),
  ];
  const capabilityArgs = {
    bandwidth: { ingressRate: 8_000_000, ingressBurst: 800_000 },
    portMappings: [{ hostPort: 18081, containerPort: 80, protocol: 'udp', hostIP: worldAddresses.host.ipv4 }],
  };
  await attached(plugins, capabilityArgs, async (pod, result, check) => {
    const [address = ''] = result.ips?.[0]?.address.split('/') ?? [];
    const server = await serveEcho(pod, 'udp', address, 80);
    assert.ok(kit.host.world);
    assert.equal(await reaches(kit.host.world, 'udp', worldAddresses.host.ipv4, 18081), true);
    await server.close();
    // The last of the chain: with ip6tables at hand, CHECK of portmap 1.1.1 looks for IPv4 rules there, in vain.
    await assert.rejects(check(), (error) => error instanceof PluginError && error.plugin === 'portmap');
  });
  assert.doesNotMatch(await rules('nat'), /18081/);
});

test('portmap: packets from beyond the host reach the pod by the host port, and no more after DEL', async () => {
  await kit.host.close();
  await setUp(['iptables']);
  assert.ok(kit.host.world);
  const world = kit.host.world;
  const { ipv4 } = worldAddresses.host;
  const portMappings = [{ hostPort: 18080, containerPort: 8080, protocol: 'tcp' }];
  await attached(
    [ptp(), withCapability('portmap', 'portMappings')],
    { portMappings },
    async (pod, result, check) => {
      const address = result.ips?.[0]?.address ?? '';
      assert.match(
        await rules('nat'),
        new RegExp(
          `-A CNI-DN-\\w+ -p tcp -m tcp --dport 18080 -j DNAT --to-destination ${address.split('/')[0]}:8080`,
        ),
      );
      const server = await serveEcho(pod, 'tcp', address.split('/')[0] ?? '', 8080);
      const answer = await ask(world, 'tcp', ipv4, 18080);
      assert.equal(answer.payload, 'podwire');
      assert.equal(answer.peer.address, worldAddresses.world.ipv4);
      await check();
      await server.close();
    },
  );
  assert.doesNotMatch(await rules('nat'), /18080/);
  await assertRefused(world, 'tcp', ipv4, 18080);
});
