import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  type ConnectivityReport,
  countTestbed,
  createTestbed,
  type Fabric,
  type Families,
  isNothing,
  waitUntilConnected,
  type Testbed,
  type TestbedOptions,
} from '@podwire/testbed';
import { describeMachine, remainsOf } from './support/machine.js';

let machine: readonly string[];
before(async () => {
  machine = await describeMachine();
});

let count = 0;
const freshName = (): string => `t-${process.pid}-${++count}`;

/** A testbed for as long as the work takes; nothing of it is left afterwards, and the machine is as it was. */
async function withTestbed(
  options: TestbedOptions,
  work: (testbed: Testbed) => Promise<void>,
): Promise<void> {
  const name = freshName();
  const testbed = await createTestbed({ name, ...options });
  try {
    await waitUntilConnected(testbed);
    await work(testbed);
  } finally {
    await testbed.close();
  }
  assert.deepEqual(remainsOf(name), []);
  assert.ok(isNothing(countTestbed(name)));
  assert.deepEqual(await describeMachine(), machine);
}

const describeFailures = ({ results }: ConnectivityReport): string[] =>
  results
    .filter(({ ok }) => !ok)
    .map(({ from, to, family, kind, words }) => `${from} → ${to} IPv${family} ${kind}: ${words}`);

const assertGreen = (report: ConnectivityReport): void => assert.deepEqual(describeFailures(report), []);

/** Three nodes with two pods each: pods to all others, nodes to pods, and one connection of each pod to an unused address. */
const questions = (families: Families): number => {
  const pairs = 6 * (5 + 3 + 1) + 3 * 6;
  return (families === 'dual' ? 2 : 1) * (pairs * 2 + 6);
};

describe('three nodes', () => {
  for (const fabric of ['direct', 'vxlan'] satisfies Fabric[])
    for (const families of ['ipv4', 'ipv6', 'dual'] satisfies Families[])
      test(`${fabric}, ${families}: every pod reaches every pod`, () =>
        withTestbed({ fabric, families }, async (testbed) => {
          const report = await testbed.matrix();
          assertGreen(report);
          assert.equal(report.results.length, questions(families));
          // Between pods of two nodes, the widest datagram is as wide as the fabric lets it be.
          const far = report.results.find(
            ({ kind, from, to }) => kind === 'udp' && from === 'default/pod1a' && to === 'default/pod2a',
          );
          const ip = families === 'ipv6' ? 40 : 20;
          const tunnel = fabric === 'direct' ? 0 : ip + 30;
          const widest = families === 'dual' && fabric === 'vxlan' ? undefined : 1500 - tunnel - ip - 8;
          if (widest !== undefined) assert.equal(far?.bytes, widest);
        }));

  test('with the embedded store', () =>
    withTestbed({ store: 'embedded' }, async (testbed) => assertGreen(await testbed.matrix())));
});

describe('two subnets with a router between', () => {
  test('direct inside of each, a tunnel between them', () =>
    withTestbed({ nodes: 4, subnets: 2, fabric: 'vxlan-cross-subnet' }, async (testbed) => {
      assertGreen(await testbed.matrix());
      const near = await routeTo(testbed, 'node1', 'node2');
      const far = await routeTo(testbed, 'node1', 'node3');
      assert.match(near, /via 10\.10\.1\.12 dev eth0/);
      assert.match(far, /dev podwire-vx/);
    }));
});

/** How a node sends to a pod of another. */
function routeTo(testbed: Testbed, from: string, to: string): Promise<string> {
  const pod = testbed.pods.find(({ node }) => node === to);
  const address = pod?.addresses.find((each) => !each.includes(':')) ?? '';
  return testbed.node(from).namespace.run(['ip', 'route', 'get', address]);
}

/** A signal stops the threads of a program one by one: it stands still a moment later. */
async function untilState(daemon: { state(): string }, wanted: string): Promise<void> {
  for (const end = performance.now() + 10_000; daemon.state() !== wanted;) {
    assert.ok(performance.now() < end, `it is ${daemon.state()}, not ${wanted}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

describe('things that go wrong', () => {
  test('a node that is cut off is the only one that is not reached; it is back when it rejoins', () =>
    withTestbed({ families: 'ipv4', pods: 1 }, async (testbed) => {
      await testbed.cutOff('node2');
      const cut = await testbed.matrix({ deadline: 1_000 });
      const wrong = cut.results.filter(({ ok }) => !ok);
      assert.ok(wrong.length > 0);
      for (const { fromNode, toNode } of wrong) assert.ok([fromNode, toNode].includes('node2'));
      const whole = cut.results.filter(({ fromNode, toNode }) => ![fromNode, toNode].includes('node2'));
      assert.ok(whole.every(({ ok }) => ok));
      await testbed.rejoin('node2');
      await waitUntilConnected(testbed);
      assertGreen(await testbed.matrix());
    }));

  test('packets flow without agents, and without the store; pods come and go without the store', () =>
    withTestbed({ pods: 1 }, async (testbed) => {
      const { server } = testbed.store;
      server.freeze();
      await untilState(server, 'frozen');
      await testbed.addPod('node1', { name: 'late' });
      assertGreen(await testbed.matrix());
      await testbed.removePod({ namespace: 'default', name: 'late' });
      server.thaw();
      for (const { agent } of testbed.nodes) await agent.kill9();
      assert.equal(testbed.node('node1').agent.state(), 'ended');
      assertGreen(await testbed.matrix());
      for (const { agent } of testbed.nodes) await agent.start();
      await testbed.addPod('node3', { name: 'later' });
      await waitUntilConnected(testbed);
      assertGreen(await testbed.matrix());
    }));

  test('an agent that does not start: it is named with what it says, and nothing is left', async () => {
    const name = freshName();
    const entry = ['/bin/sh', '-c', 'echo no luck today; exit 3', 'sh'];
    await assert.rejects(createTestbed({ name, entry }), (error: Error & { code?: string }) => {
      assert.equal(error.code, 'TESTBED_FAILED');
      assert.match(error.message, /agent of node1 does not serve: it ended with exit code 3\nno luck today/);
      return true;
    });
    assert.deepEqual(remainsOf(name), []);
  });

  test('given up while it comes up: nothing is left', async () => {
    const name = freshName();
    const stop = new AbortController();
    const reason = new Error('enough');
    const creating = createTestbed({
      name,
      signal: stop.signal,
      observer: (what, work) => {
        if (what.includes('agents')) setImmediate(() => stop.abort(reason));
        return work(() => undefined);
      },
    });
    await assert.rejects(creating, reason);
    assert.deepEqual(remainsOf(name), []);
  });

  test('a name that is taken', () =>
    withTestbed({ nodes: 1, pods: 0, store: 'embedded' }, async ({ name, directory }) => {
      await assert.rejects(createTestbed({ name, nodes: 1 }), { code: 'TESTBED_FAILED' });
      assert.ok(remainsOf(name).length > 0, directory);
    }));
});

after(async () => assert.deepEqual(await describeMachine(), machine));
