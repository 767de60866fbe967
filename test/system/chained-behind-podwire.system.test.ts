/** Podwire as the first plugin of a chain, with Debian's `portmap`, `bandwidth`, `firewall` and `tuning` behind it. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, test } from 'node:test';
import type { AttachmentParameters, NetworkConfig, Result1, Runtime } from '@podwire/cni';
import {
  type Agent,
  assertRefused,
  createHostRuntime,
  createPrivateHost,
  networkOf,
  podwirePlugin,
  pour,
  type PrivateHost,
  reaches,
  serveEcho,
  serveSink,
  type Snapshot,
  startAgent,
  takeSnapshot,
  type TestNamespace,
  untilSameSnapshot,
  worldAddresses,
} from '@podwire/testkit';

let host: PrivateHost;
let world: TestNamespace;
let agent: Agent;
let runtime: Runtime;

before(async () => {
  host = await createPrivateHost({ name: 'chain', world: true });
  world = host.world ?? assert.fail('a world');
  agent = await startAgent(host);
  const own = path.resolve(import.meta.dirname, '../../../bin');
  runtime = createHostRuntime(host, { pluginPath: [own, '/usr/lib/cni'] });
});
after(() => host.close());

/** Podwire without the capabilities that the plugins behind it are there for. */
const first = (): object => ({ ...podwirePlugin(agent.socket), capabilities: { ips: true } });
const snapshot = (): Promise<Snapshot> =>
  takeSnapshot(host.namespace, { files: [`${agent.stateDirectory}/endpoints`] });
/** Remains that Debian's plugins never take away, and the block of addresses that the node has claimed. */
const remains = [/^nftables\/(table|chain|rule) ip6? (nat|filter)\b/, /^routes\/blackhole /];

interface Attached {
  readonly result: Result1;
  readonly pod: TestNamespace;
  readonly attachment: AttachmentParameters;
}

async function attach(network: NetworkConfig, capabilityArgs: Record<string, unknown>): Promise<Attached> {
  const pod = host.addPod();
  const attachment = { containerId: pod.name, netns: pod.path, interfaceName: 'eth0', capabilityArgs };
  return { pod, attachment, result: (await runtime.add(network, attachment)) as Result1 };
}

/**
 * Podwire's own result, when no plugin follows it, as Debian's plugins write it again: their types of 1.0.0 do not know
 * an interface's MTU, and always print `dns`.
 */
async function resultAlone(): Promise<Result1> {
  const network = networkOf('alone', '1.0.0', [first()]);
  const before = await snapshot();
  const { result, attachment } = await attach(network, {});
  await runtime.del(network, attachment);
  await untilSameSnapshot(before, snapshot, { ignore: remains });
  const interfaces = result.interfaces?.map(({ name, mac, sandbox }) => ({ name, mac, sandbox })) ?? [];
  return { ...result, interfaces: interfaces as Result1['interfaces'] & object, dns: {} };
}

const macsAndAddresses =
  /[0-9a-f]{2}(:[0-9a-f]{2}){5}|10\.244\.[\d.]+|fd00:244:[0-9a-f:]+|cali[0-9a-f]{11}|\/run\/netns\/\S+/g;
/** The part that is the same for every pod. */
const shapeOf = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (_key, inner: unknown) =>
    typeof inner === 'string' ? inner.replace(macsAndAddresses, '*') : inner,
  );

test('portmap: the result stays as Podwire made it, and the host port works', async () => {
  const network = networkOf('ports', '1.0.0', [
    first(),
    { type: 'portmap', capabilities: { portMappings: true }, snat: true },
  ]);
  const alone = await resultAlone();
  const before = await snapshot();
  const { result, pod, attachment } = await attach(network, {
    portMappings: [{ hostPort: 8080, containerPort: 80, protocol: 'tcp' }],
  });
  assert.deepEqual(shapeOf(result), shapeOf(alone));
  const server = await serveEcho(pod, 'tcp', '0.0.0.0', 80);
  assert.equal(await reaches(world, 'tcp', worldAddresses.host.ipv4, 8080), true);
  await server.close();
  await runtime.del(network, attachment);
  await untilSameSnapshot(before, snapshot, { ignore: remains });
  await assertRefused(world, 'tcp', worldAddresses.host.ipv4, 8080);
});

test('bandwidth: its ifb joins the result, and it shapes', async () => {
  const network = networkOf('rates', '1.0.0', [
    first(),
    { type: 'bandwidth', capabilities: { bandwidth: true } },
  ]);
  const alone = await resultAlone();
  const before = await snapshot();
  const { result, pod, attachment } = await attach(network, {
    bandwidth: {
      ingressRate: 16_000_000,
      ingressBurst: 1_600_000,
      egressRate: 8_000_000,
      egressBurst: 800_000,
    },
  });
  const { interfaces = [], ...rest } = result;
  const { interfaces: expected = [], ...expectedRest } = alone;
  assert.deepEqual(shapeOf(rest), shapeOf(expectedRest));
  assert.deepEqual(shapeOf(interfaces.slice(0, 2)), shapeOf(expected));
  assert.match(interfaces[2]?.name ?? '', /^bwp/);
  assert.equal(interfaces.length, 3);

  const address = result.ips?.[0]?.address.split('/')[0] ?? '';
  const sink = await serveSink(pod, address);
  const { rate } = await pour(host.namespace, address, sink.port, 2_000_000);
  assert.ok(rate < 20e6, `${rate} bit/s into the pod`);
  await sink.close();
  await runtime.check(network, attachment);
  await runtime.del(network, attachment);
  await untilSameSnapshot(before, snapshot, { ignore: remains });
});

test('firewall and tuning: CHECK passes, and what they set is there', async () => {
  const network = networkOf('others', '1.0.0', [
    first(),
    { type: 'firewall' },
    { type: 'tuning', sysctl: { 'net.ipv4.conf.eth0.arp_notify': '1' }, mtu: 1400 },
  ]);
  const before = await snapshot();
  const { result, pod, attachment } = await attach(network, {});
  const [address = '', other = ''] = result.ips?.map((ip) => ip.address.split('/')[0]) ?? [];
  assert.equal(await pod.run(['cat', '/proc/sys/net/ipv4/conf/eth0/arp_notify']), '1\n');
  const links = (await takeSnapshot(pod))['links'] as Record<string, { mtu: number }>;
  assert.equal(links['eth0']?.mtu, 1400);
  assert.match(JSON.stringify((await snapshot())['nftables']), new RegExp(address.replaceAll('.', '\\.')));
  const server = await serveEcho(pod, 'udp', '0.0.0.0', 53);
  assert.equal(await reaches(host.namespace, 'udp', address, 53), true);
  await server.close();
  assert.match(other, /^fd00:244:/);
  await runtime.check(network, attachment);
  await runtime.del(network, attachment);
  await untilSameSnapshot(before, snapshot, { ignore: remains });
});

test('all of them in one chain, deleted twice and with everything gone', async () => {
  const network = networkOf('all', '1.0.0', [
    first(),
    { type: 'tuning', sysctl: { 'net.ipv4.conf.eth0.arp_notify': '1' } },
    { type: 'firewall' },
    { type: 'portmap', capabilities: { portMappings: true } },
    { type: 'bandwidth', capabilities: { bandwidth: true } },
  ]);
  const before = await snapshot();
  const { pod, attachment } = await attach(network, {
    portMappings: [{ hostPort: 8081, containerPort: 80, protocol: 'udp' }],
    bandwidth: { ingressRate: 1_000_000, ingressBurst: 100_000, egressRate: 1_000_000, egressBurst: 100_000 },
  });
  const server = await serveEcho(pod, 'udp', '0.0.0.0', 80);
  assert.equal(await reaches(world, 'udp', worldAddresses.host.ipv4, 8081), true);
  await server.close();
  await runtime.del(network, attachment);
  await runtime.del(network, attachment);
  await untilSameSnapshot(before, snapshot, { ignore: remains });
});

test('a plugin behind Podwire that fails takes everything back', async () => {
  const rollingBack = createHostRuntime(host, {
    pluginPath: [path.resolve(import.meta.dirname, '../../../bin'), '/usr/lib/cni'],
    rollback: true,
  });
  const network = networkOf('failing', '1.0.0', [
    first(),
    { type: 'tuning', sysctl: { 'net.ipv4.conf.eth0.no_such_thing': '1' } },
  ]);
  const before = await snapshot();
  const pod = host.addPod();
  const attachment = { containerId: 'failing', netns: pod.path, interfaceName: 'eth0' };
  await assert.rejects(rollingBack.add(network, attachment), /tuning/);
  await untilSameSnapshot(before, snapshot, { ignore: remains });
});
