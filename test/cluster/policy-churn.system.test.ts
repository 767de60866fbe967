/**
 * Isolation under churn: pods, labels, policies and agents come and go, while every pod floods every address. No packet of a pair that
 * was never allowed arrives, and established flows that were always allowed lose nothing.
 *
 * Ten minutes of a busy cluster are 200 changes here, without the pauses between them. PODWIRE_CHURN_CHANGES and PODWIRE_CHURN_SEED make
 * it longer and another one.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { AnyObject } from '@podwire/objects';
import type { Cluster, Labels, Pod } from '@podwire/policy-evaluator';
import { createTestbed, type Testbed, type TestbedPod, waitUntilConnected } from '@podwire/testbed';
import { eventually } from '@podwire/testkit';
import {
  createRandom,
  drawLabels,
  drawObjects,
  EverAllowed,
  guard,
  isAcceptable,
  pick,
  placeNames,
} from './support/policy-changes.js';
import { type AppliedPolicies, openPolicies } from './support/policy-cluster.js';
import { type Flood, podNameOf, startFlood } from './support/policy-flood.js';
import { type Flow, startDatagrams, startStream } from './support/policy-flow.js';
import { relabelPod } from './support/policy-labels.js';

const changeCount = Number(process.env['PODWIRE_CHURN_CHANGES'] ?? 200);
const seed = Number(process.env['PODWIRE_CHURN_SEED'] ?? 12);
/** Milliseconds; an agent's start may hold up a processor for a second, but a stream that waits for a timer of TCP has lost something. */
const longestStall = 5_000;
const mostPods = 8;
/** Of the changes, so many between two deaths of an agent, and so many that a dead one does not see. */
const deaths = { every: 15, length: 3 } as const;
/** After so many changes every node must have them in force. */
const settleEvery = 6;

const random = createRandom(seed);
const ever = new EverAllowed();
const flows: Flow[] = [];
const standing: [string, string][] = [];
const owned = new Set<string>();
const made = { pods: 0, reused: 0, relabels: 0, policies: 0, deletions: 0, kills: 0 };

let testbed: Testbed;
let policies: AppliedPolicies;
let flood: Flood;
let cluster: Cluster;
let dead: string | undefined;

before(async () => {
  // Longer than an agent is dead here: what it knows of an address must not be true of another owner.
  const config = { coolDown: '8s' };
  testbed = await createTestbed({
    name: `churn-${process.pid}`,
    nodes: 2,
    pods: 0,
    families: 'dual',
    config,
  });
  flood = startFlood();
  policies = await openPolicies(testbed);
  const nodes = testbed.nodes.map(({ name, addresses }) => ({
    name,
    labels: {},
    addresses: (Object.values(addresses) as string[]).map((each) => each.replace(/\/.*/, '')),
  }));
  const namespaces = placeNames.map((name) => ({ name, labels: { place: name } }));
  cluster = { objects: [guard], pods: [], namespaces, nodes };
  await save(cluster.objects);
});
after(async () => {
  flood?.close();
  await policies?.close();
  await testbed?.close();
});

const namespaceObjects = (): AnyObject[] =>
  (cluster.namespaces ?? []).map(({ name, labels }) => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name, labels },
  }));

/** A dead agent is not waited for: it catches up when it lives again. */
const save = (objects: readonly AnyObject[]): Promise<void> =>
  policies.replace([...namespaceObjects(), ...objects], dead === undefined ? [] : [dead]);

const find = ({ namespace, name }: Pod): TestbedPod =>
  testbed.pods.find((pod) => pod.namespace === namespace && pod.name === name)!;

async function addPod(node: string, namespace: string, name: string, labels: Labels): Promise<TestbedPod> {
  const pod = await testbed.addPod(node, { namespace, name, labels });
  if (pod.addresses.some((address) => owned.has(address))) made.reused++;
  for (const address of pod.addresses) owned.add(address);
  const known: Pod = { namespace, name, labels, node, addresses: pod.addresses, ports: [] };
  cluster = { ...cluster, pods: [...cluster.pods, known] };
  ever.note(cluster);
  await flood.join(pod);
  return pod;
}

const living = (): readonly string[] => testbed.nodes.map(({ name }) => name).filter((name) => name !== dead);
const isStanding = (pod: Pod): boolean => pod.name.startsWith('standing');
const passing = (): readonly Pod[] =>
  cluster.pods.filter((pod) => !isStanding(pod) && living().includes(pod.node));

async function comePod(): Promise<void> {
  const [place, node] = [pick(random, placeNames), pick(random, living())];
  const labels = drawLabels(random, place);
  const added: Pod = { namespace: place, name: `pod-${made.pods++}`, labels, node, addresses: [], ports: [] };
  await addPod(node, place, added.name, labels);
  if (!isAcceptable(cluster, standing))
    throw new Error(`the pod ${podNameOf(added)} opens what must be closed`);
}

async function goPod(): Promise<void> {
  const gone = pick(random, passing());
  flood.leave(podNameOf(gone));
  await testbed.removePod(gone);
  cluster = { ...cluster, pods: cluster.pods.filter((pod) => pod !== gone) };
  ever.note(cluster);
  made.deletions++;
}

async function relabel(): Promise<void> {
  const pod = pick(random, passing());
  const labels = drawLabels(random, pod.namespace);
  const next = { ...cluster, pods: cluster.pods.map((each) => (each === pod ? { ...pod, labels } : each)) };
  if (!isAcceptable(next, standing)) return;
  cluster = next;
  ever.note(cluster);
  await relabelPod(testbed, find(pod), labels);
  made.relabels++;
}

async function changePolicy(): Promise<void> {
  for (let attempt = 0; attempt < 50; attempt++) {
    const next = { ...cluster, objects: drawObjects(random, cluster.objects) };
    if (!isAcceptable(next, standing)) continue;
    cluster = next;
    ever.note(cluster);
    await save(cluster.objects);
    made.policies++;
    return;
  }
}

async function changeSomething(): Promise<void> {
  const count = passing().length;
  const chance = random();
  if (chance < 0.25 && count < mostPods) await comePod();
  else if (chance < 0.45 && count > 2) await goPod();
  else if (chance < 0.6 && count > 0) await relabel();
  else await changePolicy();
}

async function settle(): Promise<void> {
  await save(cluster.objects);
  const known = async (): Promise<boolean> => {
    const views = testbed.nodes.map(({ agent }) => agent.api.get<{ counts: { pods: number } }>('/v1/policy'));
    return (await Promise.all(views)).every(({ counts }) => counts.pods === cluster.pods.length);
  };
  await eventually('every node knows every pod', known, { timeout: 20_000 });
  ever.settle();
}

const isItself = (pair: string): boolean => {
  const [from, to] = pair.split(' > ');
  return from === to;
};

/** Packets that have arrived although they were never allowed. */
const forbiddenArrivals = (): string[] =>
  [...flood.arrived]
    .filter(([pair]) => !ever.pairs.has(pair) && !isItself(pair))
    .map(([pair, count]) => `${pair}: ${count}`);

test('pods that stay, and the flows between them', async () => {
  const client = await addPod('node1', 'good', 'standing-client', { role: 'client' });
  for (const node of ['node1', 'node2']) {
    const db = await addPod(node, 'shop', `standing-db-${node}`, { app: 'db' });
    standing.push([podNameOf(client), podNameOf(db)]);
    await addPod(node, 'evil', `standing-${node}`, { role: 'attacker' });
  }
  await waitUntilConnected(testbed).catch(() => undefined);
  await settle();
  for (const [, to] of standing) {
    const db = testbed.pods.find((pod) => podNameOf(pod) === to)!;
    for (const family of [4, 6] as const)
      flows.push(await startDatagrams(client, db, family), await startStream(client, db, family));
  }
});

test(`${changeCount} changes, seed ${seed}`, { timeout: 3_600_000 }, async (context) => {
  for (let index = 0; index < changeCount; index++) {
    const turn = index % deaths.every;
    if (turn === deaths.every - deaths.length - 1) {
      dead = testbed.nodes[made.kills++ % testbed.nodes.length]!.name;
      await testbed.node(dead).agent.kill9();
    }
    await changeSomething();
    if (turn === deaths.every - 1 && dead !== undefined) {
      await testbed.node(dead).agent.start();
      dead = undefined;
    }
    if (dead === undefined && index % settleEvery === 0) await settle();
    assert.deepEqual(forbiddenArrivals(), [], `after change ${index}: ${JSON.stringify(cluster.objects)}`);
  }
  context.diagnostic(JSON.stringify(made));
});

test('nothing forbidden has arrived, and nothing of the flows was lost', async (context) => {
  if (dead !== undefined) await testbed.node(dead).agent.start();
  dead = undefined;
  await settle();
  assert.deepEqual(forbiddenArrivals(), []);
  const reports = await Promise.all(flows.splice(0).map((flow) => flow.end()));
  for (const { what, lost, unanswered, broken, stall, sent } of reports) {
    assert.deepEqual({ lost, unanswered, broken }, { lost: [], unanswered: [], broken: undefined }, what);
    assert.ok(stall < longestStall, `${what} stood still for ${stall} ms`);
    context.diagnostic(`${what}: ${sent} sent, longest stall ${Math.round(stall)} ms`);
  }
  const sent = [...flood.sent.values()].reduce((sum, each) => sum + each, 0);
  const arrived = [...flood.arrived.values()].reduce((sum, each) => sum + each, 0);
  context.diagnostic(
    `${sent} datagrams of the flood, ${arrived} arrived; ${ever.pairs.size} pairs were ever allowed`,
  );
  assert.ok(arrived > changeCount, 'what is allowed arrives');
  context.diagnostic(`${ever.forbidden().length} pairs were there and never allowed`);
  assert.ok(ever.forbidden().length > 20, 'many pairs are never allowed');
  assert.ok(made.reused > 0 && made.kills > 0, JSON.stringify(made));
  for (const attacker of ['evil/standing-node1', 'evil/standing-node2'])
    assert.ok((flood.sent.get(attacker) ?? 0) > changeCount * 10, `${attacker} has flooded`);
});

test('the count would have seen it: with the table gone, forbidden packets arrive', async () => {
  for (const { agent, namespace } of testbed.nodes) {
    await agent.kill9();
    await namespace.run(['nft', 'delete', 'table', 'inet', 'podwire-policy']);
  }
  const pairs = standing.flatMap(([, to]) =>
    ['node1', 'node2'].map((node) => `evil/standing-${node} > ${to}`),
  );
  await eventually('every forbidden pair of those that stay is counted', () =>
    pairs.every((pair) => forbiddenArrivals().some((line) => line.startsWith(`${pair}:`))),
  );
});
