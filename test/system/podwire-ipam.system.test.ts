/** Debian's main plugins with our addresses: they start `podwire-ipam`, which asks the node agent. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { AttachmentParameters, NetworkConfig, Result1, Runtime } from '@podwire/cni';
import {
  type Agent,
  createHostRuntime,
  createPrivateHost,
  networkOf,
  type PrivateHost,
  pings,
  startAgent,
  takeSnapshot,
  type TestNamespace,
  untilSameSnapshot,
  worldAddresses,
} from '@podwire/testkit';

let host: PrivateHost;
let agent: Agent;
let runtime: Runtime;

const networks = [
  { name: 'default', pools: [{ cidr: '10.244.0.0/16' }] },
  {
    name: 'bridged',
    pools: [
      { cidr: '10.60.0.0/16', blockSize: 24, allocation: 'node-cidr' },
      { cidr: 'fd00:60::/64', blockSize: 120, allocation: 'node-cidr' },
    ],
  },
  {
    name: 'lan',
    natOutgoing: false,
    pools: [
      {
        cidr: '192.0.2.0/24',
        blockSize: 24,
        reserved: [worldAddresses.world.ipv4, worldAddresses.host.ipv4],
      },
    ],
  },
];

before(async () => {
  host = await createPrivateHost({ name: 'ipam', world: true });
  agent = await startAgent(host, { config: { networks, coolDown: '0s' } });
  const folder = path.join(host.directory, 'ipam-bin');
  fs.mkdirSync(folder);
  fs.copyFileSync(
    path.resolve(import.meta.dirname, '../../../bin/podwire-cni'),
    path.join(folder, 'podwire-ipam'),
  );
  runtime = createHostRuntime(host, { pluginPath: [folder, '/usr/lib/cni'] });
});
after(() => host.close());

interface Attached {
  readonly result: Result1;
  readonly pod: TestNamespace;
  readonly attachment: AttachmentParameters;
  readonly address: string;
}

async function attach(network: NetworkConfig, more: Partial<AttachmentParameters> = {}): Promise<Attached> {
  const pod = host.addPod();
  const attachment = { containerId: pod.name, netns: pod.path, interfaceName: 'eth0', ...more };
  const result = (await runtime.add(network, attachment)) as Result1;
  return { pod, attachment, result, address: result.ips?.[0]?.address.split('/')[0] ?? '' };
}

const snapshot = () => takeSnapshot(host.namespace, { files: [`${agent.stateDirectory}/endpoints`] });
const records = (): string[] => fs.readdirSync(`${agent.stateDirectory}/endpoints`);
/** The bridge stays with Debian's plugin, and the node keeps the block that it has claimed. */
const remains = [/cni0/, /^routes\/blackhole /, /^addresses\//, /^routes\//, /^sysctls?\//];

const bridge = (ipam: object = {}): NetworkConfig =>
  networkOf('bridged', '1.0.0', [
    {
      type: 'bridge',
      socket: agent.socket,
      bridge: 'cni0',
      isGateway: true,
      hairpinMode: true,
      capabilities: { ips: true },
      ipam: { type: 'podwire-ipam', routes: [{ dst: '0.0.0.0/0' }, { dst: '::/0' }], ...ipam },
    },
  ]);

describe('bridge', () => {
  test('pods of one block reach each other, and the gateway is the bridge', async () => {
    const [one, two] = [await attach(bridge()), await attach(bridge())];
    assert.match(one.result.ips?.[0]?.address ?? '', /^10\.60\.0\.\d+\/24$/);
    assert.equal(one.result.ips?.[0]?.gateway, '10.60.0.1');
    assert.match(one.result.ips?.[1]?.address ?? '', /^fd00:60::[0-9a-f]+\/120$/);
    assert.equal(await pings(one.pod, two.address), true);
    assert.equal(await pings(one.pod, two.result.ips?.[1]?.address.split('/')[0] ?? ''), true);
    assert.equal(await pings(host.namespace, two.address), true);
    assert.equal(await pings(one.pod, worldAddresses.host.ipv4), true);
    await runtime.check(bridge(), one.attachment);
    for (const { attachment } of [one, two]) await runtime.del(bridge(), attachment);
    assert.deepEqual(records(), []);
  });

  test('an address that is asked for, and again while it is taken', async () => {
    const request = { capabilityArgs: { ips: ['10.60.0.77'] } };
    const one = await attach(bridge(), request);
    assert.equal(one.address, '10.60.0.77');
    await assert.rejects(attach(bridge(), request), /10\.60\.0\.77/);
    await runtime.del(bridge(), one.attachment);
    const two = await attach(bridge(), request);
    assert.equal(two.address, '10.60.0.77');
    await runtime.del(bridge(), two.attachment);
    assert.deepEqual(records(), []);
  });

  test('the agent is away: nothing is left behind, and later it works', async () => {
    await runtime.del(bridge(), (await attach(bridge())).attachment); // the bridge is there
    const before = await snapshot();
    await agent.stop();
    const pod = host.addPod();
    const attachment = { containerId: pod.name, netns: pod.path, interfaceName: 'eth0' };
    await assert.rejects(runtime.add(bridge(), attachment), { code: 11 });
    await agent.start();
    await runtime.del(bridge(), attachment); // as every runtime does after an ADD that failed
    await untilSameSnapshot(before, snapshot, { ignore: remains });
    assert.deepEqual(records(), []);
    await runtime.del(bridge(), (await attach(bridge())).attachment);
  });

  test('an agent that is killed knows the addresses afterwards', async () => {
    const one = await attach(bridge());
    await agent.kill9();
    await agent.start();
    await assert.rejects(
      attach(bridge(), { capabilityArgs: { ips: [one.address] } }),
      /in use|taken|belongs/,
    );
    await runtime.del(bridge(), one.attachment);
    assert.deepEqual(records(), []);
  });

  test('a field that cannot be is named', async () => {
    await assert.rejects(attach(bridge({ ranges: [] })), /ipam.*ranges/);
    assert.deepEqual(records(), []);
  });
});

test('ptp: the gateway of the block is the host’s end', async () => {
  const network = networkOf('bridged', '1.0.0', [
    {
      type: 'ptp',
      socket: agent.socket,
      ipam: { type: 'podwire-ipam', network: 'bridged', routes: [{ dst: '0.0.0.0/0' }] },
    },
  ]);
  const one = await attach(network);
  assert.equal(await pings(host.namespace, one.address), true);
  await runtime.check(network, one.attachment);
  await runtime.del(network, one.attachment);
  assert.deepEqual(records(), []);
});

test('macvlan: addresses of a LAN, with the router that is there', async () => {
  const network = networkOf('lan', '1.0.0', [
    {
      type: 'macvlan',
      socket: agent.socket,
      master: 'eth0',
      ipam: {
        type: 'podwire-ipam',
        subnet: 'pool',
        gateways: [worldAddresses.world.ipv4],
        routes: [{ dst: '0.0.0.0/0' }],
      },
    },
  ]);
  const one = await attach(network);
  assert.match(one.result.ips?.[0]?.address ?? '', /^192\.0\.2\.\d+\/24$/);
  assert.equal(await pings(one.pod, worldAddresses.beyond.ipv4), true);
  await runtime.del(network, one.attachment);
  assert.deepEqual(records(), []);
});

test('podwire-cni beside them has pods of its own', async () => {
  const network = networkOf('default', '1.0.0', [{ type: 'podwire-cni', socket: agent.socket }]);
  const own = path.resolve(import.meta.dirname, '../../../bin');
  const beside = createHostRuntime(host, { pluginPath: [own] });
  const pod = host.addPod();
  const attachment = { containerId: pod.name, netns: pod.path, interfaceName: 'eth0' };
  const result = (await beside.add(network, attachment)) as Result1;
  const bridged = await attach(bridge());
  assert.equal(await pings(bridged.pod, result.ips?.[0]?.address.split('/')[0] ?? ''), true);
  await runtime.del(bridge(), bridged.attachment);
  await beside.del(network, attachment);
  assert.deepEqual(records(), []);
});
