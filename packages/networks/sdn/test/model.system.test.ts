/** Two nodes with a real Open vSwitch each, wired by the model, and real packets between their pods. */
import assert from 'node:assert/strict';
import { after, before, mock, test } from 'node:test';
import {
  assertArrives,
  assertBlocked,
  type Hop,
  pings,
  pour,
  serveSink,
  type Snapshot,
  takeSnapshot,
  until,
  untilSameSnapshot,
} from '@podwire/testkit';
import { createWorld, type WiredPod, type WorldNode } from './node-world.js';

let nodes: readonly [WorldNode, WorldNode];
let empty: readonly Snapshot[];

/** By project and node. */
interface Pods {
  readonly shop: WiredPod;
  readonly shopToo: WiredPod;
  readonly shopFar: WiredPod;
  readonly bank: WiredPod;
  readonly bankFar: WiredPod;
  readonly global: WiredPod;
}
let pods: Pods;

const snapshots = (): Promise<Snapshot[]> =>
  Promise.all(nodes.map(({ host }) => takeSnapshot(host.namespace)));

before(async () => {
  nodes = await createWorld();
  empty = await snapshots();
  const [one, two] = nodes;
  await one.join([2]);
  await two.join([1]);
  pods = {
    ...{ shop: await one.addPod(0, 42), shopToo: await one.addPod(1, 42), shopFar: await two.addPod(0, 42) },
    ...{ bank: await one.addPod(2, 43), bankFar: await two.addPod(1, 43), global: await one.addPod(3, 0) },
  };
});
after(async () => {
  await Promise.all((nodes as typeof nodes | undefined)?.map(({ host }) => host.close()) ?? []);
});

const reaches = (from: WiredPod, to: WiredPod): Promise<boolean> => pings(from.namespace, to.ip);

/** All of it arrives, by TCP. */
async function transfers(from: WiredPod, { namespace, address }: Hop, bytes: number): Promise<void> {
  const sink = await serveSink(namespace, address);
  try {
    const transfer = await pour(from.namespace, address, sink.port, bytes, 20_000);
    assert.equal(transfer.bytes, bytes);
  } finally {
    await sink.close();
  }
}

/** The global pod reaches both, so that only the way between the two is closed. */
const isolates = (from: WiredPod, to: WiredPod, attempt = {}): Promise<void> => {
  const { namespace, ip: address } = pods.global;
  return assertBlocked(from.namespace, to.namespace, to.ip, [{ namespace, address }], attempt);
};

test('pods of one project reach each other on a node and across nodes', async () => {
  assert.ok(await reaches(pods.shop, pods.shopToo));
  assert.ok(await reaches(pods.shop, pods.shopFar));
  assert.ok(await reaches(pods.bankFar, pods.bank));
});

test('TCP carries some megabytes between pods on a node and across nodes', async () => {
  for (const { namespace, ip } of [pods.shopToo, pods.shopFar])
    await transfers(pods.shop, { namespace, address: ip }, 8 << 20);
});

test('pods of another project are out of reach on a node and across nodes', async () => {
  await isolates(pods.shop, pods.bank);
  await isolates(pods.shop, pods.bankFar);
  await isolates(pods.bankFar, pods.shopToo);
});

test('pods of the project with VNID 0 reach all, and all reach them', async () => {
  for (const other of [pods.shop, pods.shopFar, pods.bank, pods.bankFar]) {
    assert.ok(await reaches(pods.global, other));
    assert.ok(await reaches(other, pods.global));
  }
});

test('the node reaches its pods of each project, and they reach it', async () => {
  const [{ host }] = nodes;
  for (const pod of [pods.shop, pods.bank]) {
    assert.ok(await pings(host.namespace, pod.ip));
    assert.ok(await pings(pod.namespace, '10.128.2.1'));
  }
});

test('a pod reaches what is outside of the cluster, though its node was no router before', async () => {
  // The other node's address on the wire is none of the cluster's.
  const outside = '192.0.2.2';
  assert.ok(await pings(pods.shop.namespace, outside));
  await transfers(pods.shop, { namespace: nodes[1].host.namespace, address: outside }, 1 << 20);
});

test('a pod that sends from the address of another one gets nothing through', async () => {
  // Of its own project, on its own node: with its own address it would get through.
  const source = pods.shopToo.ip;
  await pods.shop.namespace.ip('link set lo up', `addr add ${source}/32 dev lo`);
  await isolates(pods.shop, pods.shopFar, { source });
  await pods.shop.namespace.ip(`addr del ${source}/32 dev lo`);
  await assertArrives(pods.shop.namespace, pods.shopFar.namespace, pods.shopFar.ip);
});

test('a second reconcile changes nothing', async () => {
  for (const node of nodes) assert.deepEqual(await node.reconcile(), []);
});

test('a flow and a port that another program deletes come back', async () => {
  const [one] = nodes;
  await one.switch.vsctl('--if-exists', 'del-port', 'br0', 'vxlan0');
  await one.switch.ofctl(['del-flows', 'BRIDGE', 'table=80']);
  const actions = new Set((await one.reconcile()).map(({ action }) => action));
  assert.deepEqual(actions, new Set(['repaired']));
  assert.ok(await reaches(pods.shop, pods.shopFar));
  assert.deepEqual(await one.reconcile(), []);
});

test('a link of a pod that another program deletes comes back, and packets pass it again', async () => {
  const [one] = nodes;
  await one.host.namespace.ip(`link del ${pods.shop.link}`);
  const actions = new Set((await one.reconcile()).map(({ action }) => action));
  assert.deepEqual(actions, new Set(['repaired']));
  assert.ok(await reaches(pods.shop, pods.shopToo));
  assert.ok(await reaches(pods.shopFar, pods.shop));
  await isolates(pods.shop, pods.bank);
  assert.deepEqual(await one.reconcile(), []);
});

test('after ovs-vswitchd was killed and started again a reconcile brings everything back', async () => {
  const [one] = nodes;
  await one.switch.killDaemon();
  await one.switch.startDaemon();
  const actions = new Set((await one.reconcile()).map(({ action }) => action));
  assert.deepEqual(actions, new Set(['repaired']));
  assert.ok(await reaches(pods.shop, pods.shopFar));
  await isolates(pods.shop, pods.bankFar);
  assert.deepEqual(await one.reconcile(), []);
});

test('a pod comes with one transaction and one bundle, and goes with one of each', async () => {
  const [one] = nodes;
  const transactions = mock.method(one.client, 'transact');
  const bundles = mock.method(one.connection!, 'applyBundle');
  const countCalls = (): number[] => [transactions, bundles].map((calls) => calls.mock.callCount());
  try {
    const brief = await one.addPod(4, 44);
    assert.deepEqual(countCalls(), [1, 1]);
    await one.removePod(brief);
    assert.deepEqual(countCalls(), [2, 2]);
  } finally {
    mock.restoreAll();
  }
});

test('a port whose number another one has is refused, and the pod is not attached', async () => {
  const [one] = nodes;
  // The number of the address 10.128.2.9.
  await one.switch.vsctl(
    'add-port',
    'br0',
    'other0',
    '--',
    'set',
    'Interface',
    'other0',
    'type=internal',
    'ofport_request=10',
  );
  await assert.rejects(one.addPod(7, 42), {
    code: 'PORT_REFUSED',
    message: /the number of port cali\w+ is \d+, not 10/,
  });
  const ports = await one.switch.vsctl('list-ports', 'br0');
  assert.equal(ports.match(/^cali/gm)?.length, 4);
  await one.switch.vsctl('del-port', 'br0', 'other0');
});

test('a pod whose number another port has got is closed, and open again when the number is free', async () => {
  const [one] = nodes;
  const { link, ip } = pods.shop;
  const flowsOf = async (): Promise<string> =>
    one.switch.ofctl(['--no-stats', 'dump-flows', 'BRIDGE', `table=20,ip,nw_src=${ip}`]);
  assert.match(await flowsOf(), /nw_src/);
  const takeNumber = ['type=internal', 'ofport_request=3'];
  await one.switch.vsctl('del-port', 'br0', link);
  await one.switch.vsctl('add-port', 'br0', 'other0', '--', 'set', 'Interface', 'other0', ...takeNumber);
  const failed = (await one.reconcile()).filter(({ action }) => action === 'failed');
  assert.match(String(failed[0]?.error), /PORT_REFUSED|the number of port/);
  assert.doesNotMatch(await flowsOf(), /nw_src/);
  for (const field of ['nw_dst', 'nw_src', 'arp_tpa'])
    assert.doesNotMatch(await one.switch.ofctl(['dump-flows', 'BRIDGE']), new RegExp(`${field}=${ip}\\b`));
  await one.switch.vsctl('del-port', 'br0', 'other0');
  await until('the pod is as it was', async () => (await one.reconcile()).length === 0);
  assert.ok(await reaches(pods.shop, pods.shopToo));
  await isolates(pods.shop, pods.bank);
});

test('a port that has got the number of tun0 is not taken for the node', async () => {
  const [one] = nodes;
  const fromNode = (): Promise<string> => one.switch.ofctl(['dump-flows', 'BRIDGE', 'table=0,in_port=2']);
  assert.match(await fromNode(), /in_port/);
  const takeNumber = ['type=internal', 'ofport_request=2'];
  await one.switch.vsctl('del-port', 'br0', 'tun0');
  await one.switch.vsctl('add-port', 'br0', 'other0', '--', 'set', 'Interface', 'other0', ...takeNumber);
  await one.reconcile();
  assert.doesNotMatch(await fromNode(), /in_port/);
  assert.ok(await reaches(pods.shop, pods.shopToo));
  await one.switch.vsctl('del-port', 'br0', 'other0');
  await until('the node is as it was', async () => (await one.reconcile()).length === 0);
  assert.ok(await pings(one.host.namespace, pods.shop.ip));
});

test('a pod whose project gets another VNID keeps its link and its port', async () => {
  const [one] = nodes;
  const picture = async (): Promise<string> =>
    (await pods.bank.namespace.run(['ip', '-o', 'link', 'show', 'eth0'])) +
    (await one.switch.vsctl('--columns=_uuid,name,ofport', 'list', 'Interface'));
  const before = await picture();
  await one.changeProject(pods.bank, 42);
  assert.ok(await reaches(pods.shop, pods.bank));
  await isolates(pods.bank, pods.bankFar);
  await one.changeProject(pods.bank, 43);
  assert.ok(await reaches(pods.bank, pods.bankFar));
  await isolates(pods.shop, pods.bank);
  assert.equal(await picture(), before);
});

test('a pod that goes takes its flows along, and the last one of a project those of the project', async () => {
  const [one] = nodes;
  const flowsOf = async (selector: string): Promise<number> =>
    (await one.switch.ofctl(['dump-flows', 'BRIDGE', selector])).match(/cookie=/g)?.length ?? 0;
  await one.removePod(pods.shop);
  assert.equal(await flowsOf(`table=70,ip,nw_dst=${pods.shop.ip}`), 0);
  assert.equal(await flowsOf('table=80,reg0=42'), 1);
  await one.removePod(pods.shopToo);
  assert.equal(await flowsOf('table=80,reg0=42'), 0);
  assert.ok(await reaches(pods.bank, pods.bankFar));
});

test('when all has gone nothing is left, neither on the nodes nor in their switches', async () => {
  const [one, two] = nodes;
  for (const pod of [pods.bank, pods.global]) await one.removePod(pod);
  for (const pod of [pods.shopFar, pods.bankFar]) await two.removePod(pod);
  for (const [index, node] of nodes.entries()) {
    await node.leave();
    await node.engine.settle();
    const take = (): Promise<Snapshot> => takeSnapshot(node.host.namespace);
    // Forwarding stays: others may have come to rely on it.
    await untilSameSnapshot(empty[index]!, take, { ignore: ['sysctls'], timeout: 20_000 });
    await until('the bridge has gone', async () => (await node.switch.vsctl('list-br')).trim() === 'br-phy');
    for (const table of ['Port', 'QoS', 'Queue'])
      assert.doesNotMatch(await node.switch.vsctl('--columns=external_ids', 'list', table), /podwire/);
  }
});
