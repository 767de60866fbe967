/** Testbeds of the model sdn: nodes with an Open vSwitch each, by commands alone. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { tearDownTestbed } from '@podwire/testbed';
import { eventually } from '@podwire/testkit';
import { podwireSays, runPodwire } from './support/command.js';
import { describeMachine, remainsOf } from './support/machine.js';

const name = `sdn-${process.pid}`;
const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'podwire-sdn-'));
let machine: Awaited<ReturnType<typeof describeMachine>>;

interface Status {
  readonly nodes: readonly { name: string; ovsRunDir?: string; openVSwitch?: Record<string, string> }[];
  readonly pods: readonly { name: string; namespace: string; addresses: string[] }[];
}

/** Words of a program follow the options of `exec`. */
const testbed = (command: string, ...words: readonly string[]): Promise<string> =>
  command === 'exec'
    ? runPodwire('testbed', 'exec', '--testbed', name, ...words)
    : runPodwire('testbed', command, ...words, '--testbed', name);
const readStatus = async (): Promise<Status> => JSON.parse(await testbed('status', '-o', 'json')) as Status;
const onNode = (node: string, ...argv: readonly string[]): Promise<string> =>
  testbed('exec', node, '--', ...argv);

/** Of pods, by NAMESPACE/NAME. */
const addresses = new Map<string, string>();

async function addPod(node: string, pod: string): Promise<void> {
  const { addresses: own } = JSON.parse(
    await testbed('pod', 'add', node, pod, '-o', 'json'),
  ) as Status['pods'][0];
  addresses.set(pod, own[0]!);
}

async function reaches(from: string, to: string): Promise<boolean> {
  const ping = ['ping', '-c', '1', '-W', '1', addresses.get(to)!];
  return (await podwireSays('testbed', 'exec', '--testbed', name, from, '--', ...ping)).exit.code === 0;
}

async function changeNetwork(namespace: string, change: string): Promise<void> {
  const { netid } = JSON.parse(
    await onNode('node1', 'podwire', 'get', `netnamespaces/${namespace}`, '-o', 'json'),
  ) as { netid: number };
  const annotations = { 'pod.network.openshift.io/multitenant.change-network': change };
  const type = { apiVersion: 'network.openshift.io/v1', kind: 'NetNamespace' };
  const file = path.join(directory, 'change.yaml');
  const object = { ...type, metadata: { name: namespace, annotations }, netname: namespace, netid };
  fs.writeFileSync(file, JSON.stringify(object));
  await onNode('node2', 'podwire', 'apply', '-f', file, '--wait');
}

before(async () => {
  machine = await describeMachine();
  await runPodwire('testbed', 'up', '--testbed', name, '--nodes', '2', '--pods', '1', '--model', 'sdn');
  await addPod('node1', 'shop/web');
  await addPod('node2', 'shop/db');
  await addPod('node2', 'bank/db');
});
after(async () => {
  await tearDownTestbed(name);
  fs.rmSync(directory, { recursive: true });
});

test('pods of the namespace default reach all nodes, pods and the outside', async () => {
  const { nodes } = await readStatus();
  assert.deepEqual(
    nodes.map(({ openVSwitch }) => openVSwitch),
    nodes.map(() => ({ 'ovs-vswitchd': 'running', 'ovsdb-server': 'running' })),
  );
  for (const { ovsRunDir } of nodes) assert.ok(fs.existsSync(`${ovsRunDir}/br0.mgmt`), ovsRunDir);
  assert.match(await onNode('node1', 'ovs-vsctl', 'show'), /Bridge br0/);
  assert.match(await onNode('node1', 'podwire', 'flows', 'shop/web'), /shop\/web/);
});

test('a change of a VNID is in force on every node when apply --wait ends', async () => {
  assert.ok(await reaches('shop/web', 'shop/db'));
  assert.equal(await reaches('shop/web', 'bank/db'), false);
  for (let round = 0; round < 2; round++) {
    await changeNetwork('shop', 'join:bank');
    assert.ok(await reaches('shop/web', 'bank/db'));
    await changeNetwork('shop', 'isolate');
    assert.equal(await reaches('shop/web', 'bank/db'), false);
    assert.ok(await reaches('shop/web', 'shop/db'));
  }
});

const closed = {
  ...{ apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy' },
  ...{ metadata: { namespace: 'shop', name: 'closed' }, spec: { podSelector: {}, policyTypes: ['Ingress'] } },
};

test('connectivity and explanations are those of projects, also where a policy says otherwise', async () => {
  const file = path.join(directory, 'closed.json');
  fs.writeFileSync(file, JSON.stringify(closed));
  const onOne = ['testbed', 'exec', '--testbed', name, 'node1', '--', 'podwire'];
  const applied = await podwireSays(...onOne, 'apply', '-f', file, '--wait');
  assert.equal(applied.exit.code, 4);
  assert.match(
    applied.stderr,
    /shop\/closed: selects pod shop\/web of network default, whose model sdn enforces no/,
  );
  const explain = (to: string): Promise<string> =>
    onNode('node1', 'podwire', 'policy', 'explain', '--from', 'pod/shop/web', '--to', to, '--port', '80/tcp');
  assert.match(await explain('pod/shop/db'), /allow by the model of the network, which enforces no policy/);
  assert.match(await explain('pod/bank/db'), /deny by their projects/);
  assert.match(await runPodwire('connectivity', 'test', '--testbed', name), /⊘/);
  await onNode('node1', 'podwire', 'delete', '-f', file, '--wait');
});

for (const [what, how] of [
  ['ovs-vswitchd', []],
  ['ovs-vswitchd', ['--kill']],
  ['ovsdb-server', ['--kill']],
  ['agent', ['--kill']],
] as const)
  test(`pods reach those of their namespace, and no others, after ${what} was restarted ${how.join()}`, async () => {
    assert.match(await testbed('restart', 'node1', what, ...how), /serves/);
    await eventually('web reaches db', () => reaches('shop/web', 'shop/db'));
    assert.equal(await reaches('shop/web', 'bank/db'), false);
    await addPod('node1', 'shop/late');
    assert.ok(await reaches('shop/late', 'shop/db'));
    await testbed('pod', 'delete', 'shop/late');
  });

test('what the model does not have is refused', async () => {
  const up = ['testbed', 'up', '--testbed', `${name}-no`, '--model', 'sdn'];
  const families = await podwireSays(...up, '--families', 'ipv6');
  assert.match(families.stderr, /the model sdn has IPv4 alone/);
  const fabric = await podwireSays(...up, '--fabric', 'direct');
  assert.match(fabric.stderr, /the model sdn has the fabric vxlan alone/);
});

test('nothing is left of it', async () => {
  assert.match(await testbed('down'), /Nothing is left/);
  assert.deepEqual(remainsOf(name), []);
  assert.deepEqual(await describeMachine(), machine);
});
