/**
 * `kill -9` of the agent at every step of an ADD and a DEL of the model sdn. After the restart all of a pod is there, or nothing of it:
 * node and switch are compared. `npm run test:long` lets every flow and every link travel alone, which are many more steps.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test, type TestContext } from 'node:test';
import { pings, type Snapshot, takeSnapshot, type TestNamespace, untilSameSnapshot } from '@podwire/testkit';
import { type FaultInjector, type Occurrence, openFaultInjector } from '@podwire/testkit/fault-injection';
import type { OpenVSwitch } from '@podwire/testkit/openvswitch';
import type { Machine } from './fakes/cluster-fixture.js';
import { askApi, type ClientAnswer } from './fakes/plugin-client.js';
import { createSdnFixture, namespace, type SdnFixture } from './fakes/sdn-fixture.js';
import { addPod, askFor, dumpFlows, type SdnPod } from './fakes/sdn-pods.js';

/** The call's own. Policy follows at its own pace, and has such a test already. */
const steps = /^(add|apply|teardown|remove|remove-links):/;
const env = process.env['PODWIRE_TEST_LONG'] === '1' ? { FAULT_SINGLE: '1' } : {};

let fixture: SdnFixture;
let one: Machine;
let own: OpenVSwitch;
let injector: FaultInjector;
let bystander: SdnPod;
/** A namespace that pods are attached to and detached from. */
let subject: TestNamespace;
let startAgent: () => Promise<void>;

let without: Snapshot;
let having: Snapshot;

before(async () => {
  // Nothing happens by itself, and a call ends by an answer however busy the machine is.
  const agent = { reconcileInterval: '1h', watchDrift: false, deadlines: { request: '2m' } };
  fixture = await createSdnFixture('kill', { agentOf: () => agent });
  one = fixture.machines[0]!;
  own = fixture.switches[0]!;
  const orders = path.join(one.host.directory, 'orders');
  injector = openFaultInjector(orders);
  injector.clear();
  startAgent = () => one.agent.start({ ...env, PODWIRE_FAULTS: orders });
  for (const name of ['default', 'shop']) await fixture.apply(namespace(name));
  bystander = await addPod(one, 'shop');
  subject = one.host.addPod();
  await one.agent.stop();
  await startAgent();
  without = await takeWhole();
  await add();
  having = await takeWhole();
  await del();
  await untilSame(without);
});
after(async () => fixture?.close());

/** With one address each time, from which its port and its flows follow. */
const ask = (command: string): Promise<ClientAnswer | undefined> =>
  askFor(one, command, subject, 'shop', {
    runtimeConfig: { ips: [bystander.address.replace(/\d+$/, '9')] },
  });

async function succeed(command: string): Promise<void> {
  const answer = await ask(command);
  assert.ok(answer?.ok, `${command}: ${JSON.stringify(answer?.json)}`);
}
const add = (): Promise<void> => succeed('ADD');
const del = (): Promise<void> => succeed('DEL');

/** Of the node, its records by name, since they hold times, and of the switch. */
const take = async (): Promise<Snapshot> => ({
  ...(await takeSnapshot(one.host.namespace)),
  records: toKeys(fs.readdirSync(path.join(one.agent.stateDirectory, 'endpoints'))),
  flows: toKeys(await dumpFlows(own)),
  ports: toKeys((await own.vsctl('--columns=name,ofport,external_ids', 'list', 'Interface')).split('\n\n')),
});
const toKeys = (lines: readonly string[]): Record<string, true> =>
  Object.fromEntries(lines.map((line) => [line, true]));

/** Policy is in force by then. */
async function takeWhole(): Promise<Snapshot> {
  await askApi(one.agent.apiSocket, '/v1/reconcile', {});
  return take();
}

/** Links are deleted a little later. */
const untilSame = (wanted: Snapshot): Promise<void> => untilSameSnapshot(wanted, take, { timeout: 30_000 });

/** The steps that one call passes, each as often as it does. */
async function record(call: () => Promise<void>): Promise<readonly Occurrence[]> {
  injector.clear();
  await call();
  return injector.occurrences().filter(({ point }) => steps.test(point));
}

/**
 * The agent dies there and starts again.
 * @returns false when it lives: a reconcile that came between has passed the step in the recording
 */
async function dieAt(occurrence: Occurrence, command: string): Promise<boolean> {
  injector.clear();
  injector.inject({ ...occurrence, signal: 'SIGKILL' });
  // A second call waits for the end of the first, which may pass a step after its answer.
  for (const each of [command, 'CHECK']) {
    const answer = await ask(each).catch(() => undefined);
    if (answer !== undefined) continue;
    assert.equal((await one.agent.exited()).signal, 'SIGKILL');
    injector.clear();
    await startAgent();
    return true;
  }
  injector.clear();
  return false;
}

async function isThere(): Promise<boolean> {
  const { endpoints } = await askApi(one.agent.apiSocket, '/v1/endpoints');
  return (endpoints as { containerId: string }[]).some(({ containerId }) => containerId === subject.name);
}

/** All of the pod or nothing, then nothing, and the pod beside it has its network. */
async function assertWhole({ point, skip }: Occurrence): Promise<void> {
  try {
    await untilSame((await isThere()) ? having : without);
    await del();
    await untilSame(without);
    assert.ok(await pings(one.host.namespace, bystander.address), 'the other pod answers');
  } catch (cause) {
    throw new Error(`after a death at ${point} (${skip}): ${(cause as Error).message}`, { cause });
  }
}

async function dieAtEach(
  occurrences: readonly Occurrence[],
  command: string,
  context: TestContext,
  prepare?: () => Promise<void>,
): Promise<void> {
  let deaths = 0;
  for (const occurrence of occurrences) {
    await prepare?.();
    if (await dieAt(occurrence, command)) deaths += 1;
    await assertWhole(occurrence);
  }
  assert.ok(deaths >= 10, `it died ${deaths} times`);
  context.diagnostic(`died ${deaths} times at ${occurrences.length} steps`);
}

test('an ADD in which the agent dies is undone, or done', async (context) => {
  const occurrences = await record(add);
  await del();
  await dieAtEach(occurrences, 'ADD', context);
});

test('a DEL in which the agent dies is done, or the next one does it', async (context) => {
  await add();
  await dieAtEach(await record(del), 'DEL', context, add);
});
