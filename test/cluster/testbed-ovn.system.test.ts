/** Testbeds of the model ovn: nodes with OVN, and its central part, by commands alone. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { pathsOf, readRecord, tearDownTestbed } from '@podwire/testbed';
import { eventually } from '@podwire/testkit';
import { podwireSays, runPodwire, startPodwire } from './support/command.js';
import { describeMachine, remainsOf } from './support/machine.js';

const name = `ovn-${process.pid}`;
const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'podwire-ovn-'));
let machine: Awaited<ReturnType<typeof describeMachine>>;

interface Status {
  readonly northbound: string;
  readonly southbound: string;
  readonly ovn: Readonly<Record<string, string>>;
  readonly nodes: readonly {
    readonly name: string;
    readonly openVSwitch: Readonly<Record<string, string>>;
    readonly ovnController: string;
  }[];
}
interface Pod {
  readonly uid: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly addresses: readonly string[];
}

/** Words of a program follow the options of `exec`. */
const testbed = (command: string, ...words: readonly string[]): Promise<string> =>
  command === 'exec'
    ? runPodwire('testbed', 'exec', '--testbed', name, ...words)
    : runPodwire('testbed', command, ...words, '--testbed', name);
const onNode = (node: string, ...argv: readonly string[]): Promise<string> =>
  testbed('exec', node, '--', ...argv);
const readStatus = async (): Promise<Status> => JSON.parse(await testbed('status', '-o', 'json')) as Status;

const addPod = async (node: string, pod: string, ...options: readonly string[]): Promise<Pod> =>
  JSON.parse(await testbed('pod', 'add', node, pod, ...options, '-o', 'json')) as Pod;

async function reaches(from: string, address: string): Promise<boolean> {
  const ping = ['ping', '-c', '1', '-W', '1', address];
  return (await podwireSays('testbed', 'exec', '--testbed', name, from, '--', ...ping)).exit.code === 0;
}

let far = '';

before(async () => {
  machine = await describeMachine();
  await runPodwire('testbed', 'up', '--testbed', name, '--nodes', '2', '--pods', '1', '--model', 'ovn');
  await addPod('node1', 'shop/web');
  far = (await addPod('node2', 'shop/db')).addresses[0]!;
});
after(async () => {
  await tearDownTestbed(name);
  fs.rmSync(directory, { recursive: true });
});

test('each node is a chassis with a tunnel to the other one', async () => {
  const { northbound, southbound, ovn, nodes } = await readStatus();
  assert.match(northbound, /^unix:\/.*\.sock$/);
  const running = { northbound: 'running', southbound: 'running', 'ovn-northd': 'running' };
  assert.deepEqual(ovn, { ...running, controller: 'running' });
  for (const node of nodes) {
    assert.deepEqual(node.openVSwitch, { 'ovs-vswitchd': 'running', 'ovsdb-server': 'running' });
    assert.equal(node.ovnController, 'running');
  }
  const list = [`--db=${southbound}`, '--bare', '--columns=chassis_name,type,ip', 'list', 'Encap'];
  const encaps = (await onNode('fabric', 'ovn-sbctl', ...list)).trim().split('\n\n').toSorted();
  assert.deepEqual(encaps, ['node1\ngeneve\n10.10.1.11', 'node2\ngeneve\n10.10.1.12']);
  await eventually('the tunnel', async () =>
    /type: geneve\n.*remote_ip="10\.10\.1\.12"/s.test(await onNode('node1', 'ovs-vsctl', 'show')),
  );
  assert.match(await onNode('node1', 'ovn-sbctl', 'show'), /Chassis node2/);
  assert.match(await onNode('node1', 'ovn-nbctl', 'ls-list'), /ovn-default/);
});

test('pods of both nodes, nodes and the outside reach each other', async () => {
  assert.ok(await reaches('shop/web', far));
  await runPodwire('connectivity', 'test', '--testbed', name);
  assert.match(await onNode('node1', 'podwire', 'ovn', 'show'), /pod shop\/web/);
});

test('a pod gets the address that its annotation asks for, and is another pod when it comes again', async () => {
  const key = 'ovn.kubernetes.io/ip_address';
  const ask = ['--annotation', `${key}=10.16.0.99`];
  const first = await addPod('node2', 'shop/cache', ...ask);
  assert.deepEqual(first.addresses, ['10.16.0.99']);
  assert.deepEqual(first.annotations, { [key]: '10.16.0.99' });
  await testbed('pod', 'delete', 'shop/cache');
  const second = await addPod('node1', 'shop/cache', ...ask);
  assert.deepEqual(second.addresses, first.addresses);
  assert.notEqual(second.uid, first.uid);
  assert.ok(await reaches('shop/db', '10.16.0.99'));
  await testbed('pod', 'delete', 'shop/cache');
});

const subnet = `
apiVersion: kubeovn.io/v1
kind: Subnet
metadata: { name: blue }
spec: { cidrBlock: 10.17.0.0/16, namespaces: [bank] }
`;

test('a pod is in the subnet that was applied for its namespace', async () => {
  const file = path.join(directory, 'blue.yaml');
  fs.writeFileSync(file, subnet);
  await onNode('node2', 'podwire', 'apply', '-f', file);
  await eventually('the switch', async () =>
    (await onNode('node1', 'ovn-nbctl', 'ls-list')).includes('(blue)'),
  );
  const { addresses } = await addPod('node1', 'bank/db');
  assert.match(addresses[0]!, /^10\.17\./);
  assert.ok(await reaches('shop/db', addresses[0]!));
  await testbed('pod', 'delete', 'bank/db');
});

for (const [words, kill] of [
  [['node1', 'ovn-controller'], true],
  [['node1', 'ovs-vswitchd'], true],
  [['node2', 'ovsdb-server'], true],
  [['ovn-northd'], false],
  [['northbound'], true],
  [['node1', 'southbound'], true],
  [['controller'], true],
  [['node2', 'agent'], true],
] as const)
  test(`pods, also new ones, reach others after ${words.join(' ')} was ${kill ? 'killed' : 'ended'}`, async () => {
    assert.match(await testbed('restart', ...words, ...(kill ? ['--kill'] : [])), /serves/);
    await eventually('web reaches db', () => reaches('shop/web', far));
    await addPod('node1', 'shop/late');
    assert.ok(await reaches('shop/late', far));
    await testbed('pod', 'delete', 'shop/late');
  });

test('tunnels are of the encapsulation that is asked for, and addresses of both families', async () => {
  const other = `${name}-v`;
  const options = ['--nodes', '2', '--pods', '1', '--families', 'dual', '--encapsulation', 'vxlan'];
  try {
    await runPodwire('testbed', 'up', '--testbed', other, '--model', 'ovn', ...options);
    const on = ['testbed', 'exec', '--testbed', other, 'node1', '--'];
    assert.match(await runPodwire(...on, 'ovn-sbctl', 'show'), /Encap vxlan/);
    await runPodwire('connectivity', 'test', '--testbed', other);
  } finally {
    await tearDownTestbed(other);
  }
});

test('what the model does not have is refused', async () => {
  const up = await podwireSays(
    'testbed',
    'up',
    '--testbed',
    `${name}-no`,
    '--model',
    'ovn',
    '--families',
    'ipv6',
  );
  assert.match(up.stderr, /tunnels of the model ovn need IPv4/);
});

test('down takes away what an up has made that was killed while OVN started', async () => {
  const other = `${name}-k`;
  const up = startPodwire('testbed', 'up', '--testbed', other, '--nodes', '2', '--model', 'ovn');
  try {
    await eventually('ovn-northd', () => {
      const { processes = [] } = readRecord(pathsOf(other)) ?? {};
      return processes.some(({ what }) => what === 'ovn-northd');
    });
    up.kill('SIGKILL');
    await up.exited;
    assert.match(await runPodwire('testbed', 'down', '--testbed', other), /Nothing is left/);
    assert.deepEqual(remainsOf(other), []);
  } finally {
    await tearDownTestbed(other);
  }
});

test('nothing is left of it', async () => {
  assert.match(await testbed('down'), /Nothing is left/);
  assert.deepEqual(remainsOf(name), []);
  assert.deepEqual(await describeMachine(), machine);
});
