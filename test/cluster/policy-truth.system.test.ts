/** The truth table of policy: real packets between all pods, compared with the second evaluator. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AnyObject } from '@podwire/objects';
import { type Cluster, evaluate } from '@podwire/policy-evaluator';
import { applyStep, cases } from '@podwire/policy-evaluator/cases';
import { samplePolicySets } from '@podwire/policy-evaluator/generate';
import { createTestbed, type Testbed, waitUntilConnected } from '@podwire/testbed';
import { addStandardPods, type AppliedPolicies, openPolicies } from './support/policy-cluster.js';
import { openPodLabels, type PodLabels } from './support/policy-labels.js';
import { describeProbe, listProbes, openProber, type PodProbe, type Prober } from './support/policy-probe.js';

/** `npm run test:long` has more of them. */
const defaultCount = process.env['PODWIRE_TEST_LONG'] === '1' ? 1_000 : 100;
const setCount = Number(process.env['PODWIRE_TRUTH_SETS'] ?? defaultCount);
const seed = Number(process.env['PODWIRE_TRUTH_SEED'] ?? 12);
/** Milliseconds until what is allowed must have arrived. */
const patience = 6_000;
/** Of the random sets, each of these is met by the death of an agent. */
const setsPerKill = 12;
/** Milliseconds that a set takes. */
const longestWait = 400;

let testbed: Testbed;
let cluster: Cluster;
let prober: Prober;
let policies: AppliedPolicies;
let labels: PodLabels;
let round = 0;

before(async () => {
  testbed = await createTestbed({ name: `truth-${process.pid}`, nodes: 2, pods: 0, families: 'dual' });
  cluster = await addStandardPods(testbed);
  await waitUntilConnected(testbed);
  prober = await openProber(testbed);
  policies = await openPolicies(testbed);
  labels = openPodLabels(testbed);
});
after(async () => {
  await policies?.close();
  await prober?.close();
  await testbed?.close();
});

const isAllowedBy =
  (wanted: Cluster) =>
  ({ from, to, protocol, port, family, sourcePort }: PodProbe): boolean => {
    const connection = { from: { pod: from }, to: { pod: to }, protocol, port, family, sourcePort };
    return evaluate(wanted, connection).verdict === 'allow';
  };

/** @returns what differs between the packets and the evaluator */
async function compare(wanted: Cluster): Promise<string[]> {
  const probes = listProbes(testbed.pods, round++);
  const expected = new Set(probes.filter(isAllowedBy(wanted)));
  const arrived = await prober.ask(probes, (probe) => expected.has(probe), patience);
  return probes
    .filter((probe) => arrived.has(probe) !== expected.has(probe))
    .map((probe) => `${describeProbe(probe)}: ${arrived.has(probe) ? 'came through' : 'was lost'}`);
}

/** Namespaces have their labels from objects. */
const namespacesOf = ({ namespaces = [] }: Cluster): AnyObject[] =>
  namespaces.map(({ name, labels }) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } }));

async function checkSet(wanted: Cluster, what: string): Promise<void> {
  await labels.follow(wanted);
  await policies.replace([...namespacesOf(wanted), ...wanted.objects]);
  const wrong = await compare(wanted);
  const shown = [...wrong.slice(0, 12), ...(wrong.length > 12 ? [`and ${wrong.length - 12} more`] : [])];
  assert.deepEqual(shown, [], `${what}: ${JSON.stringify(wanted.objects, undefined, 1)}`);
}

test('without policy every pod reaches every pod', async () => {
  assert.deepEqual(await compare(cluster), []);
});

test('cases by hand', async (context) => {
  for (const { category, name, steps } of cases)
    await context.test(`${category}: ${name}`, async () => {
      for (const [index, step] of steps(cluster).entries())
        await checkSet(applyStep(cluster, step), `${name}, step ${index + 1}`);
    });
});

test(`${setCount} random sets, seed ${seed}`, { timeout: 1_200_000 }, async (context) => {
  const sets = samplePolicySets(cluster, { count: setCount, seed });
  for (const [index, objects] of sets.entries())
    await context.test(`set ${index}`, async () => {
      const check = checkSet({ ...cluster, objects }, `set ${index}`);
      if (index % setsPerKill === 0) await Promise.all([check, killOnTheWay(index / setsPerKill)]);
      else await check;
    });
});

/** An agent is killed somewhere between the first change of a set and its last packet, each time at another moment. */
async function killOnTheWay(turn: number): Promise<void> {
  const { agent } = testbed.nodes[turn % testbed.nodes.length]!;
  await sleep((turn * 37) % longestWait);
  await agent.kill9();
  await agent.start();
}

test('while an agent is killed and started again', { timeout: 120_000 }, async () => {
  const [objects = []] = samplePolicySets(cluster, { count: 1, seed: seed + 1, family: 'kubernetes' });
  const wanted = { ...cluster, objects };
  await checkSet(wanted, 'before');
  for (const { name, agent } of testbed.nodes) {
    await agent.kill9();
    assert.deepEqual(await compare(wanted), [], `with the agent of ${name} dead`);
    let serves = false;
    const starting = agent.start().then(() => (serves = true));
    try {
      do assert.deepEqual(await compare(wanted), [], `while the agent of ${name} starts`);
      while (!serves);
    } finally {
      await starting;
    }
    assert.deepEqual(await compare(wanted), [], `with a new agent on ${name}`);
  }
});

test('no packet came through after its round', () => {
  assert.deepEqual(prober.late, []);
});
