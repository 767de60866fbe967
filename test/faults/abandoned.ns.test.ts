/**
 * One side of a call goes away: the plugin is killed, the runtime's deadline passes, the agent is frozen, dead, or dies under traffic. The
 * runtime's DEL always puts things right.
 */
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import {
  assertSameSnapshot,
  createHostRuntime,
  networkOf,
  podwirePlugin,
  type Snapshot,
  startPing,
} from '@podwire/testkit';
import { type CniCall, networkName, pluginProgram } from './support/calls.js';
import { createFaultHost, type FaultHost, inCase, leasesOf, untilStopped } from './support/fault-host.js';
import { assertPoolWhole, type Subject } from './support/matrix.js';
import { addPod, bystanderCall, createFullSubject } from './support/subjects.js';

let faults: FaultHost;
let subject: Subject;
let used: Snapshot;
before(async () => {
  faults = await createFaultHost({ name: 'left' });
  await faults.succeed(await bystanderCall(faults.host));
  subject = await createFullSubject(faults.host);
  await faults.succeed(subject.add);
  await deleteAndSettle();
  used = await faults.snapshot(subject.pod);
});
after(() => faults.close());

/** DEL, and the link gone that is marked for deletion. */
async function deleteAndSettle(): Promise<void> {
  await faults.succeed(subject.del);
  await faults.settle();
}

async function assertNothingLeft(): Promise<void> {
  assertSameSnapshot(used, await faults.snapshot(subject.pod));
  assert.deepEqual(await leasesOf(faults.api, subject.key), []);
  assert.deepEqual(
    (await faults.api.endpoints()).map(({ key }) => key),
    ['bystander,bystander,eth0'],
  );
}

/** Starts a call and returns when the agent has frozen in the middle of it. */
async function freezeAt(point: string, call: CniCall) {
  faults.injector.clear();
  faults.injector.inject({ point, skip: 0, signal: 'SIGSTOP' });
  const plugin = faults.start(call);
  await untilStopped(faults.agent);
  return plugin;
}

describe('the plugin is killed', () => {
  const adding = [
    'add:validated',
    'file:half-written',
    'add:recorded',
    'apply:0:veth',
    'apply:end',
    'add:ready',
  ];
  for (const point of adding)
    test(`while ADD is at ${point}: the agent takes it back`, async () => {
      await inCase(point, faults, async () => {
        const plugin = await freezeAt(point, subject.add);
        plugin.process.kill('SIGKILL');
        await plugin.exited;
        process.kill(faults.agent.pid, 'SIGCONT');
        await faults.injector.reached('teardown:forgotten');
        await faults.settle();
        await assertNothingLeft();
        await faults.succeed(subject.del);
        await assertNothingLeft();
      });
    });

  test("while ADD is under way, and the runtime's DEL is there before the agent has noticed", async () => {
    const plugin = await freezeAt('apply:0:veth', subject.add);
    plugin.process.kill('SIGKILL');
    await plugin.exited;
    const del = faults.start(subject.del);
    process.kill(faults.agent.pid, 'SIGCONT');
    assert.equal((await del.answer).ok, true);
    await faults.settle();
    await assertNothingLeft();
  });

  const removing = ['teardown:marked', 'remove:0:nft-element', 'remove-links:host', 'teardown:unwired'];
  for (const point of removing)
    test(`while DEL is at ${point}: it is carried out all the same`, async () => {
      await inCase(point, faults, async () => {
        await faults.succeed(subject.add);
        const plugin = await freezeAt(point, subject.del);
        plugin.process.kill('SIGKILL');
        await plugin.exited;
        process.kill(faults.agent.pid, 'SIGCONT');
        await faults.succeed(subject.del);
        await faults.settle();
        await assertNothingLeft();
      });
    });
});

describe("the runtime's deadline passes", () => {
  const runtime = () => createHostRuntime(faults.host, { pluginPath: [path.dirname(pluginProgram)] });
  const network = () => networkOf(networkName, '1.1.0', [podwirePlugin(faults.agent.socket)]);
  const attachment = () => ({
    containerId: subject.add.id!,
    netns: subject.pod.path,
    interfaceName: 'eth0',
    capabilityArgs: subject.add.config!['runtimeConfig'] as Record<string, unknown>,
  });

  test('with an agent that is frozen: ADD fails, DEL cleans', async () => {
    process.kill(faults.agent.pid, 'SIGSTOP');
    await untilStopped(faults.agent);
    faults.injector.clear();
    const deadline = new AbortController();
    const adding = runtime().add(network(), attachment(), { signal: deadline.signal });
    await faults.untilQueued(1);
    deadline.abort(new Error('the deadline has passed'));
    await assert.rejects(adding, /the deadline has passed/);
    process.kill(faults.agent.pid, 'SIGCONT');
    await runtime().del(network(), attachment());
    // The ADD that waited in the queue is carried out, finds no container, and is rolled back.
    await faults.injector.reached('teardown:forgotten');
    await faults.settle();
    await assertNothingLeft();
  });

  test('in the middle of DEL: DEL again finishes it', async () => {
    await runtime().add(network(), attachment());
    faults.injector.clear();
    faults.injector.inject({ point: 'remove-links:pod', skip: 0, signal: 'SIGSTOP' });
    const deadline = new AbortController();
    const removing = runtime().del(network(), attachment(), { signal: deadline.signal });
    await untilStopped(faults.agent);
    deadline.abort(new Error('the deadline has passed'));
    await assert.rejects(removing, /the deadline has passed/);
    process.kill(faults.agent.pid, 'SIGCONT');
    await runtime().del(network(), attachment());
    await faults.settle();
    await assertNothingLeft();
  });
});

describe('the agent is dead', () => {
  test('every call says "try again later", STATUS that the plugin is not available', async () => {
    const pod = await addPod(faults.host, 'later');
    await faults.agent.kill9();
    const call: Omit<CniCall, 'command'> = { id: 'later', netns: pod.path };
    for (const [command, code] of [
      ['ADD', 11],
      ['DEL', 11],
      ['STATUS', 50],
    ] as const) {
      const answer = await faults.call({ ...call, command });
      assert.equal(answer.json.code, code, answer.body);
      assert.match(answer.body, /cannot be reached.*ECONNREFUSED/);
    }
    await faults.restart();
    await faults.succeed({ ...call, command: 'ADD' });
    await faults.succeed({ ...call, command: 'DEL' });
    await faults.settle();
    await assertNothingLeft();
  });

  test('a call that comes while it starts is served when it is ready', async () => {
    await faults.agent.kill9();
    faults.injector.clear();
    faults.injector.inject({ point: 'reconcile:dead-removed', skip: 0, signal: 'SIGSTOP' });
    const started = faults.agent.start();
    await untilStopped(faults.agent);
    const adding = faults.start(subject.add);
    await faults.untilQueued(1);
    process.kill(faults.agent.pid, 'SIGCONT');
    await started;
    const answer = await adding.answer;
    assert.ok(answer.ok, answer.body);
    await deleteAndSettle();
    await assertNothingLeft();
  });

  test('traffic between pods goes on over its death and its return', async () => {
    await faults.succeed(subject.add);
    const bystander = (await faults.api.endpoints()).find(({ key }) => key.startsWith('bystander'))!;
    const pings = bystander.addresses.map((address) => startPing(subject.pod, address, 50));
    const answered = (count: number) => Promise.all(pings.map((ping) => ping.waitForAnswers(count)));
    await answered(5);
    await faults.agent.kill9();
    await answered(10);
    await faults.restart();
    await answered(10);
    for (const ping of pings) {
      const { lost, received } = await ping.stop();
      assert.deepEqual(lost, []);
      assert.ok(received >= 25);
    }
    await deleteAndSettle();
    await assertNothingLeft();
  });

  test('nothing was lost in all this', async () => {
    await assertPoolWhole(faults, subject.pod);
    await assertNothingLeft();
  });
});
