/** Policy as people and programs use it: by commands alone, on a testbed. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { tearDownTestbed } from '@podwire/testbed';
import { podwireSays, runPodwire } from './support/command.js';

const name = `policy-command-${process.pid}`;
let directory: string;
let file: string;

const testbed = (verb: string, ...words: string[]): Promise<string> =>
  runPodwire('testbed', verb, '--testbed', name, ...words);
const pod = (verb: string, ...words: string[]): Promise<string> =>
  runPodwire('testbed', 'pod', verb, ...words, '--testbed', name);
const onNode = (node: string, ...words: string[]): Promise<string> =>
  testbed('exec', node, '--', 'podwire', ...words);

interface Status {
  readonly nodes: readonly { name: string; netns: string; agent: { pid: number } }[];
  readonly pods: readonly {
    name: string;
    namespace: string;
    labels: object;
    node: string;
    addresses: string[];
    netns: string;
  }[];
}
const readStatus = async (): Promise<Status> => JSON.parse(await testbed('status', '-o', 'json')) as Status;

const policy = `apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: { namespace: shop, name: db }
spec:
  podSelector: { matchLabels: { app: db } }
  ingress:
    - from: [{ podSelector: { matchLabels: { app: web } } }]
      ports: [{ port: pg }]
`;

before(async () => {
  directory = fs.mkdtempSync(path.join(os.tmpdir(), 'policy-command-'));
  file = path.join(directory, 'db.yaml');
  fs.writeFileSync(file, policy);
  await testbed('up', '--nodes', '2', '--pods', '0');
  await pod('add', 'node1', 'shop/web', '--label', 'app=web');
  await pod('add', 'node2', 'shop/db', '--label', 'app=db', '--port', 'pg:tcp:5432');
  await pod('add', 'node2', 'shop/cron', '--label', 'app=cron');
});
after(async () => {
  await tearDownTestbed(name);
  fs.rmSync(directory, { recursive: true });
});

test('status shows pods with labels, node, addresses and namespace', async () => {
  const { nodes, pods } = await readStatus();
  assert.deepEqual(
    pods.map(({ namespace, name: own, labels, node }) => [namespace, own, labels, node]),
    [
      ['shop', 'web', { app: 'web' }, 'node1'],
      ['shop', 'db', { app: 'db' }, 'node2'],
      ['shop', 'cron', { app: 'cron' }, 'node2'],
    ],
  );
  for (const { addresses, netns } of pods) {
    assert.equal(addresses.length, 2);
    assert.ok(fs.existsSync(netns), netns);
  }
  for (const { netns, agent } of nodes) assert.ok(fs.existsSync(netns) && agent.pid > 0);
});

test('apply --wait returns when packets are treated as explain says', async () => {
  assert.equal(await onNode('node1', 'apply', '-f', file, '--wait'), 'networkpolicies/shop/db created\n');
  const ask = async (from: string): Promise<{ verdict: string; object: string; line: number }> => {
    const words = ['--from', `pod/shop/${from}`, '--to', 'pod/shop/db', '--port', '5432/tcp', '-o', 'json'];
    return JSON.parse(await onNode('node2', 'policy', 'explain', ...words)) as never;
  };
  const [web, cron] = [await ask('web'), await ask('cron')];
  assert.deepEqual([web.verdict, web.object, web.line], ['allow', 'NetworkPolicy shop/db', 7]);
  assert.deepEqual([cron.verdict, cron.object], ['deny', 'NetworkPolicy shop/db']);
  await assertAsExplained();
});

/** Sends packets between all pairs and compares them with policy. */
async function assertAsExplained(): Promise<void> {
  const { exit, stdout } = await podwireSays('connectivity', 'test', '--testbed', name);
  assert.equal(exit.code, 0, stdout);
  assert.match(stdout, /^shop\/web +· +⊘/m);
  assert.match(stdout, /^Denied by policy: 1[0-9] asked, 1[0-9] not answered\.$/m);
}

test('rules stand when the agent is killed, and its successor keeps them', async () => {
  const before = (await readStatus()).nodes.find((node) => node.name === 'node2')!.agent.pid;
  await testbed('restart', 'node2', 'agent', '--kill');
  const { pid } = (await readStatus()).nodes.find((node) => node.name === 'node2')!.agent;
  assert.notEqual(pid, before);
  await assertAsExplained();
});

test('pod delete takes a node too, and refuses one where the pod is not', async () => {
  const words = ['testbed', 'pod', 'delete', 'node1', 'shop/cron', '--testbed', name];
  const wrong = await podwireSays(...words);
  assert.equal(wrong.exit.code, 1);
  assert.match(wrong.stderr, /there is no pod shop\/cron on node1/);
  await pod('delete', 'node2', 'shop/cron');
  await pod('delete', 'shop/web');
  assert.deepEqual(
    (await readStatus()).pods.map((each) => each.name),
    ['db'],
  );
});

test('the agent gets annotations as containerd hands them on, and the UID of each pod', async () => {
  const seen = new Set<string>();
  for (const [node, address] of [
    ['node1', '10.244.200.7'],
    ['node2', '10.244.210.7'],
  ] as const) {
    await pod('add', node, 'shop/asks', '--annotation', `cni.projectcalico.org/ipAddrs=["${address}"]`);
    const own = (await readStatus()).pods.find((each) => each.name === 'asks');
    assert.ok(own?.addresses.includes(address), own?.addresses.join());
    const { endpoints } = JSON.parse(await onNode(node, 'pods', '-o', 'json')) as {
      endpoints: { pod: { name: string; uid?: string } }[];
    };
    const { uid = '' } = endpoints.find((each) => each.pod.name === 'asks')!.pod;
    assert.match(uid, /^[0-9a-f-]{36}$/);
    seen.add(uid);
    await pod('delete', 'shop/asks');
  }
  assert.equal(seen.size, 2);
});

test('get lists what delete then takes away', async () => {
  assert.match(await onNode('node2', 'get', 'networkpolicies', '-A'), /^shop +db /m);
  assert.equal(await onNode('node2', 'delete', '-f', file), 'networkpolicies/shop/db deleted\n');
  assert.equal((await podwireSays('connectivity', 'test', '--testbed', name)).exit.code, 0);
});
