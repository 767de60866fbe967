/** Networks of the model ovn: real agents and OVN on two machines, one real etcd, and packets between pods. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { ovnPodKind } from '@podwire/cluster-state';
import { type AnyObject, checkObject, type IP } from '@podwire/objects';
import {
  assertPasses,
  defaultAgentEntry,
  eventually,
  pings,
  pour,
  serveSink,
  type TestNamespace,
} from '@podwire/testkit';
import type { LoggedTransaction } from '@podwire/testkit/ovsdb';
import { addressesOf, keys, type Machine } from './fakes/cluster-fixture.js';
import { createOvnFixture, kubeOvnCniOf, type OvnFixture, referTo } from './fakes/ovn-fixture.js';
import { addPod, askFor, type OvnPod, removePod } from './fakes/ovn-pods.js';

let fixture: OvnFixture;
let one: Machine;
let two: Machine;

before(async () => {
  fixture = await createOvnFixture('ovn');
  [one, two] = fixture.machines as [Machine, Machine];
});
after(async () => fixture?.close());

async function untilReached(from: OvnPod, to: OvnPod): Promise<void> {
  for (const address of to.addresses)
    await eventually(`${from.name} reaches ${address}`, () => pings(from.namespace, address));
}

const subnet = (name: string, cidrBlock: string): AnyObject => {
  const checked = checkObject({
    ...{ apiVersion: 'kubeovn.io/v1', kind: 'Subnet', metadata: { name }, spec: { cidrBlock } },
  });
  assert.ok(checked.ok);
  return checked.object;
};

const ipOf = async ({ name }: OvnPod): Promise<IP | undefined> =>
  (await fixture.read(referTo('IP', `${name}.shop`))) as IP | undefined;

const findPort = async ({ name }: OvnPod): Promise<string> =>
  (
    await fixture.central.nbctl(
      '--bare',
      '--columns=name',
      'find',
      'Logical_Switch_Port',
      `name="${name}.shop"`,
    )
  ).trim();

const interfaceOf = async (pod: OvnPod, column: string): Promise<string> => {
  const node = fixture.nodes[fixture.machines.indexOf(pod.machine)]!;
  const words = ['--bare', `--columns=${column}`, 'find', 'Interface'];
  return (await node.switch.vsctl(...words, `external_ids:iface-id="${pod.name}.shop"`)).trim();
};

test('pods reach each other on a node and between nodes, in both families', async () => {
  const web = await addPod(one);
  const [near, far] = [await addPod(one), await addPod(two)];
  assert.equal(web.addresses.length, 2);
  for (const pod of [near, far]) {
    await untilReached(web, pod);
    for (const address of pod.addresses) await assertPasses(web.namespace, pod.namespace, address);
  }
  for (const pod of [web, near, far]) await removePod(pod);
});

test('the gateways of a pod answer to its first packet', async () => {
  const pod = await addPod(one);
  for (const gateway of ['10.16.0.1', 'fd00:10:16::1']) assert.ok(await pings(pod.namespace, gateway));
  await removePod(pod);
});

test('a node speaks with its pods and those of other nodes, and they with it', async () => {
  const [web, far] = [await addPod(one), await addPod(two)];
  for (const pod of [web, far])
    for (const address of pod.addresses)
      await eventually(`the node reaches ${address}`, () => pings(one.host.namespace, address));
  for (const pod of [web, far])
    await eventually('a pod reaches the node', () => pings(pod.namespace, '192.0.2.1'));
  for (const pod of [web, far]) await removePod(pod);
});

test('a pod leaves the cluster with the address of its node', async () => {
  const web = await addPod(one);
  const { address: outside } = fixture.hosts;
  await eventually('the pod reaches what is outside', () => pings(web.namespace, outside));
  await removePod(web);
});

test('a pod has the subnet, the address and the MAC address that its annotations name', async () => {
  await fixture.apply(subnet('blue', '10.17.0.0/24'));
  const pod = await addPod(one, {
    annotations: {
      'ovn.kubernetes.io/logical_switch': 'blue',
      'ovn.kubernetes.io/ip_address': '10.17.0.77',
      'ovn.kubernetes.io/mac_address': '00:00:00:11:22:33',
    },
  });
  assert.deepEqual([pod.addresses, pod.mac], [['10.17.0.77'], '00:00:00:11:22:33']);
  const ids = await interfaceOf(pod, 'external_ids');
  for (const id of [
    'ip=10.17.0.77',
    'pod_namespace=shop',
    `pod_name=${pod.name}`,
    `pod_netns=${pod.namespace.path}`,
  ])
    assert.ok(ids.includes(id), ids);
  await removePod(pod);
});

test('annotations of a pod are its rates, in the direction in which the switch sees them', async () => {
  const rates = { 'ovn.kubernetes.io/ingress_rate': '3', 'ovn.kubernetes.io/egress_rate': '1' };
  const pod = await addPod(one, { annotations: rates });
  assert.equal(await interfaceOf(pod, 'ingress_policing_rate'), '1000');
  const qos = await fixture.nodes[0]!.switch.vsctl('--bare', '--columns=other_config', 'list', 'QoS');
  assert.ok(qos.includes('max-rate=3000000'), qos);
  await removePod(pod);
});

test('a pod sends no faster than its egress rate, and is sent to no faster than its ingress rate', async () => {
  const rates = { 'ovn.kubernetes.io/ingress_rate': '10', 'ovn.kubernetes.io/egress_rate': '10' };
  const pod = await addPod(one, { annotations: rates });
  const other = await addPod(two);
  // Both buckets hold 1 MB at most; a busy machine makes a transfer slower, and never faster.
  for (const [from, to] of [[pod, other] as const, [other, pod] as const]) {
    const [address] = to.addresses as [string];
    await untilReached(from, to);
    const sink = await serveSink(to.namespace, address);
    const { rate } = await pour(from.namespace, address, sink.port, 3_000_000);
    assert.ok(rate < 16_000_000, `${rate} bit/s`);
    await sink.close();
  }
  for (const each of [pod, other]) await removePod(each);
});

/** Columns that ovs-vswitchd writes as it follows (ovs-vswitchd.conf.db(5)). */
const columnsOfSwitch =
  /^(cur_cfg|ofport|ifindex|mac_in_use|mtu|error|status|statistics|admin_state|duplex|link_.*)$/;

const listColumns = (transaction: LoggedTransaction): string[] =>
  Object.entries(transaction)
    .filter(([table]) => !table.startsWith('_'))
    .flatMap(([, rows]) =>
      Object.values(rows as object).flatMap((row) => Object.keys((row as object | null) ?? {})),
    );

/** OVN's own daemons sign theirs. */
const isOfOthers = (transaction: LoggedTransaction): boolean =>
  /^ovn-(northd|controller)/.test(transaction._comment ?? '') ||
  listColumns(transaction).every((column) => columnsOfSwitch.test(column));

test('a pod with rates comes with three transactions at most, in the northbound database and on its node', async () => {
  const databases = [fixture.central.northbound, fixture.nodes[0]!.switch.database];
  // Nothing of earlier pods is counted.
  await removePod(await addPod(one));
  await eventually(
    'nothing is on its way',
    async () => (await fixture.central.nbctl('show')).match(/shop/) === null,
  );
  const before = databases.map((database) => database.transactions().length);
  const pod = await addPod(one, {
    annotations: { 'ovn.kubernetes.io/ingress_rate': '3', 'ovn.kubernetes.io/egress_rate': '1' },
  });
  const own = databases.map((database, at) =>
    database
      .transactions()
      .slice(before[at])
      .filter((transaction) => !isOfOthers(transaction)),
  );
  const counts = own.map(({ length }) => length);
  assert.ok(Math.min(...counts) >= 1 && counts[0]! + counts[1]! <= 3, JSON.stringify(own));
  await removePod(pod);
});

test('nothing of a pod is left when it is removed', async () => {
  const pod = await addPod(one);
  assert.equal((await ipOf(pod))?.spec.ipAddress, pod.addresses.join(','));
  assert.equal(await findPort(pod), `${pod.name}.shop`);
  await removePod(pod);
  await eventually('the pod is gone from the store', async () => (await ipOf(pod)) === undefined);
  assert.equal(await fixture.get(ovnPodKind, keys.ovnPod('shop', pod.name)), undefined);
  await eventually('its logical port is gone', async () => (await findPort(pod)) === '');
  assert.equal(await interfaceOf(pod, 'name'), '');
});

test('an agent that restarts keeps its pods, and their records', async () => {
  const [web, far] = [await addPod(one), await addPod(two)];
  await untilReached(far, web);
  const before = await interfaceOf(web, '_uuid');
  await one.agent.stop();
  await one.agent.start();
  await eventually('the agent is ready', async () => (await one.status()).ready);
  assert.equal(await interfaceOf(web, '_uuid'), before);
  await untilReached(far, web);
  // The next life knows which record is to be deleted.
  for (const pod of [web, far]) await removePod(pod);
  await eventually('the pod is gone from the store', async () => (await ipOf(web)) === undefined);
});

test('a pod waits for its addresses, and is told so while there is no controller', async () => {
  await fixture.killController();
  const own = one.host.addPod();
  const refused = await askFor(one, 'ADD', own);
  assert.deepEqual(
    [refused?.json.code, refused?.json.msg],
    [11, `POD_UNALLOCATED: no address allocated to pod shop/${own.name} yet`],
  );
  const waiting = askFor(one, 'ADD', own);
  await fixture.startController();
  const answer = await waiting;
  assert.ok(answer?.ok, JSON.stringify(answer?.json));
  await askFor(one, 'DEL', own);
  one.host.removePod(own);
});

test('a pod that cannot have what it asks for is told why', async () => {
  const own = one.host.addPod();
  const annotations = { 'ovn.kubernetes.io/ip_address': '192.0.2.77' };
  const refused = await askFor(one, 'ADD', own, { annotations });
  assert.equal(refused?.json.code, 11);
  assert.match(refused.json.msg ?? '', /^POD_UNALLOCATED: no address .* yet: OVN_CONFLICT: .*192\.0\.2\.77/);
  await askFor(one, 'DEL', own, { annotations });
  const answer = await askFor(one, 'ADD', own);
  assert.ok(answer?.ok, JSON.stringify(answer?.json));
  await askFor(one, 'DEL', own);
  one.host.removePod(own);
});

test('a second sandbox of a pod has its addresses, while there is no controller', async () => {
  const first = await addPod(one);
  await fixture.killController();
  const own = one.host.addPod();
  const answer = await askFor(one, 'ADD', own, { name: first.name, uid: first.uid });
  assert.ok(answer?.ok, JSON.stringify(answer?.json));
  assert.deepEqual(addressesOf(answer.json), first.addresses);
  await removePod(first);
  await fixture.startController();
  // The record of the pod is that of its second sandbox by now.
  assert.equal((await fixture.get(ovnPodKind, keys.ovnPod('shop', first.name)))?.uid, first.uid);
  await askFor(one, 'DEL', own, { name: first.name, uid: first.uid });
  one.host.removePod(own);
  await eventually('the pod is gone from the store', async () => (await ipOf(first)) === undefined);
});

test('a sandbox that is made anew while there is no controller waits, and has the addresses of the answer', async () => {
  const first = await addPod(one);
  await fixture.killController();
  await removePod(first);
  const record = keys.ovnPod('shop', first.name);
  await eventually('the record is gone', async () => (await fixture.get(ovnPodKind, record)) === undefined);
  const { name, uid } = first;
  const own = one.host.addPod();
  // The IP object of the last sandbox is there still.
  const refused = await askFor(one, 'ADD', own, { name, uid });
  assert.match(String(refused?.json['msg']), /no address allocated to pod shop\/.* yet/);
  await fixture.startController();
  const answer = await askFor(one, 'ADD', own, { name, uid });
  assert.ok(answer?.ok, JSON.stringify(answer?.json));
  assert.equal((await ipOf(first))?.spec.ipAddress, addressesOf(answer.json).join(','));
  await askFor(one, 'DEL', own, { name, uid });
  one.host.removePod(own);
});

test('sandboxes that are made anew at once have the addresses that the store says', async () => {
  const pods = await Promise.all(Array.from({ length: 4 }, () => addPod(one)));
  for (let round = 0; round < 5; round++)
    await Promise.all(
      pods.map(async ({ namespace: own, name, uid }) => {
        await askFor(one, 'DEL', own, { name, uid });
        const answer = await askFor(one, 'ADD', own, { name, uid });
        assert.ok(answer?.ok, JSON.stringify(answer?.json));
        const ip = (await fixture.read(referTo('IP', `${name}.shop`))) as IP;
        assert.equal(addressesOf(answer.json).join(','), ip.spec.ipAddress);
        assert.ok(await pings(own, '10.16.0.1'));
      }),
    );
  for (const pod of pods) await removePod(pod);
});

const runKubeOvn = async (command: string, own: TestNamespace): Promise<string> => {
  const { networkConfigDir } = kubeOvnCniOf(one.host);
  const text = fs.readFileSync(path.join(networkConfigDir, '01-kube-ovn.conflist'), 'utf8');
  const list = JSON.parse(text) as { name: string; cniVersion: string; plugins: object[] };
  const config = { name: list.name, cniVersion: list.cniVersion, ...list.plugins[0] };
  return one.host.run([path.join(path.dirname(defaultAgentEntry[0]!), 'kube-ovn')], {
    input: JSON.stringify(config),
    env: {
      ...{ CNI_COMMAND: command, CNI_CONTAINERID: own.name, CNI_NETNS: own.path, CNI_IFNAME: 'eth0' },
      ...{ CNI_PATH: '/opt/cni/bin', CNI_ARGS: `K8S_POD_NAMESPACE=shop;K8S_POD_NAME=${own.name}` },
    },
  });
};

test("the original's plugin attaches pods by its socket and its network configuration", async () => {
  const own = one.host.addPod();
  const result = JSON.parse(await runKubeOvn('ADD', own)) as Record<'ips' | 'routes', object[]>;
  const [first, second] = result.ips as { address: string; gateway: string }[];
  assert.match(first!.address, /^10\.16\.\d+\.\d+\/16$/);
  assert.deepEqual([first!.gateway, second!.gateway], ['10.16.0.1', 'fd00:10:16::1']);
  assert.deepEqual(result.routes, [
    { dst: '0.0.0.0/0', gw: '10.16.0.1' },
    { dst: '::/0', gw: 'fd00:10:16::1' },
  ]);
  assert.ok(await pings(own, '10.16.0.1'));
  await runKubeOvn('DEL', own);
  await runKubeOvn('DEL', own);
  one.host.removePod(own);
});

test('a pod that is made again under its name has addresses of its own', async () => {
  const first = await addPod(one, { name: 'again' });
  const second = await addPod(two, { name: 'again' });
  assert.notDeepEqual(second.addresses, first.addresses);
  await removePod(first);
  assert.equal((await ipOf(second))?.spec.ipAddress, second.addresses.join(','));
  const other = await addPod(one);
  await untilReached(other, second);
  for (const pod of [second, other]) await removePod(pod);
});
