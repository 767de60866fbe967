/** `podwire packet trace` from pod to pod of a testbed, with a real switch on each node. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { tearDownTestbed } from '@podwire/testbed';
import { eventually } from '@podwire/testkit';
import { type Answer, podwireSays, runPodwire } from './support/command.js';
import { describeMachine, remainsOf } from './support/machine.js';

const name = `packet-${process.pid}`;
let machine: Awaited<ReturnType<typeof describeMachine>>;

interface Hop {
  readonly node: string | null;
  readonly ends: readonly string[];
}

/** @returns its address */
async function addPod(node: string, pod: string): Promise<string> {
  const text = await runPodwire('testbed', 'pod', 'add', node, pod, '--testbed', name, '-o', 'json');
  return (JSON.parse(text) as { addresses: [string] }).addresses[0];
}

async function reaches(from: string, address: string): Promise<boolean> {
  const ping = ['ping', '-c', '1', '-W', '1', address];
  return (await podwireSays('testbed', 'exec', '--testbed', name, from, '--', ...ping)).exit.code === 0;
}
const trace = (...words: readonly string[]): Promise<Answer> =>
  podwireSays('packet', 'trace', '--testbed', name, '--tcp', '80', ...words);

async function follow(from: string, to: string) {
  const { exit, stdout } = await trace('--from', from, '--to', to, '-o', 'json');
  const { outcome, hops } = JSON.parse(stdout) as { outcome: string; hops: readonly Hop[] };
  return { code: exit.code, outcome, ends: hops.map(({ node, ends }) => `${node}: ${ends.join()}`) };
}

/** On a real node no other switch can be asked. @param change of the environment, as env(1) takes it */
const onNode = (node: string, change: readonly string[], ...words: readonly string[]): Promise<Answer> =>
  podwireSays(
    ...['testbed', 'exec', '--testbed', name, node, '--', 'env', '-u', 'PODWIRE_TESTBED', ...change],
    ...['podwire', 'packet', 'trace', ...words],
  );

before(async () => {
  machine = await describeMachine();
  await runPodwire('testbed', 'up', '--testbed', name, '--nodes', '2', '--pods', '0', '--model', 'sdn');
  await addPod('node1', 'shop/web');
  await addPod('node1', 'shop/cart');
  const db = await addPod('node2', 'shop/db');
  await addPod('node2', 'bank/db');
  await addPod('node2', 'router');
  // In the userspace datapath the first packet to a node is dropped while its MAC address is asked for.
  await eventually('web reaches db', () => reaches('shop/web', db));
});
after(() => tearDownTestbed(name));

test('a pod of the same project on the same node gets the packet', async () => {
  const { ends, ...rest } = await follow('shop/web', 'shop/cart');
  assert.deepEqual(rest, { code: 0, outcome: 'delivered' });
  assert.equal(ends.length, 1);
  assert.match(ends[0]!, /^node1: delivered to pod shop\/cart at port \d+ \(\w+\) of node1$/);
});

test('a pod of the same project on another node gets the packet through the tunnel', async () => {
  const { ends, ...rest } = await follow('pod/shop/web', 'pod/shop/db');
  assert.deepEqual(rest, { code: 0, outcome: 'delivered' });
  assert.equal(ends.length, 2);
  const tunnel = /^node1: sent through the tunnel to node2 \(10\.10\.1\.12\), with VNID \d+ \(shop\)$/;
  assert.match(ends[0]!, tunnel);
  assert.match(ends[1]!, /^node2: delivered to pod shop\/db at port \d+ \(\w+\) of node2$/);
});

test('a pod of another project does not get the packet: the node of the receiver drops it', async () => {
  const { ends, ...rest } = await follow('shop/web', 'bank/db');
  assert.deepEqual(rest, { code: 4, outcome: 'dropped' });
  const reason = /: no flow lets VNID \d+ \(shop\) reach VNID \d+ \(bank\)$/;
  assert.match(ends.at(-1)!, /^node2: dropped on node2 in table 80/);
  assert.match(ends.at(-1)!, reason);
});

test('a pod of the project default gets the packet of any project', async () => {
  const { ends, ...rest } = await follow('shop/web', 'pod/router');
  assert.deepEqual(rest, { code: 0, outcome: 'delivered' });
  assert.match(ends.at(-1)!, /^node2: delivered to pod default\/router /);
});

test('a packet to the outside leaves through tun0', async () => {
  const expected = { code: 0, outcome: 'sent', ends: ['node1: sent out of the cluster through tun0'] };
  assert.deepEqual(await follow('shop/web', '198.51.100.1'), expected);
});

test('a pod that does not exist is refused by its name', async () => {
  const { exit, stderr } = await trace('--from', 'shop/web', '--to', 'shop/nope');
  assert.equal(exit.code, 1);
  assert.match(stderr, new RegExp(`^error: the testbed ${name} has no pod shop/nope\n`));
  assert.match(stderr, /code: POD_UNKNOWN/);
});

test('on a real node the command for the other one is shown, and says there what becomes of the packet', async () => {
  const first = await onNode('node1', [], '--from', 'shop/web', '--to', 'bank/db', '--tcp', '80');
  assert.equal(first.exit.code, 0);
  const lines = first.stdout.trimEnd().split('\n');
  assert.equal(lines.at(-2), 'The way goes on at node2 (10.10.1.12). Run there:');
  const words = lines.at(-1)!.trim().split(' ').slice(3);
  const second = await onNode('node2', [], ...words);
  assert.equal(second.exit.code, 4);
  assert.match(second.stdout, /\ndropped in table 80: no flow lets VNID \d+ reach VNID \d+\n$/);
});

test('where no store is named, the agent knows the pods of its node', async () => {
  const without = ['-u', 'PODWIRE_STORE'];
  const near = await onNode('node1', without, '--from', 'shop/web', '--to', 'shop/cart');
  assert.match(near.stdout, /\ndelivered to pod shop\/cart at port \d+ \(\w+\) of node1\n$/);
  const far = await onNode('node1', without, '--from', 'shop/web', '--to', 'shop/db');
  assert.match(far.stderr, /^error: the agent of node node1 has no pod shop\/db\n/);
});

test('nothing is left of it', async () => {
  await runPodwire('testbed', 'down', '--testbed', name);
  assert.deepEqual(remainsOf(name), []);
  assert.deepEqual(await describeMachine(), machine);
});
