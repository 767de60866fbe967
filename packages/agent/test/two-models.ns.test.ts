/** Two networks of different models on one node: neither knows the other, and the pods of both reach each other. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, test } from 'node:test';
import {
  type Agent,
  assertPasses,
  createPrivateHost,
  eventually,
  type PrivateHost,
  startAgent,
  type TestNamespace,
} from '@podwire/testkit';
import { tetherOf } from './two-models/plain-model.js';
import { askApi, callPlugin } from './fakes/plugin-client.js';

const entry = [process.execPath, path.join(import.meta.dirname, 'two-models', 'agent.js')];
const networks = [
  { name: 'default', model: 'routed', pools: [{ cidr: '10.244.0.0/16' }] },
  { name: 'flat', model: 'plain', pools: [{ cidr: '10.99.0.0/16' }], options: { linkPrefix: 'pln' } },
];

let host: PrivateHost;
let agent: Agent;

before(async () => {
  host = await createPrivateHost({ name: 'models', world: true });
  agent = await startAgent(host, { entry, config: { nodeName: 'n1', networks } });
});
after(async () => host.close());

interface Pod {
  readonly namespace: TestNamespace;
  readonly address: string;
  readonly link: string;
}

async function addPod(network: string): Promise<Pod> {
  const namespace = host.addPod();
  const request = { command: 'ADD', id: namespace.name, netns: namespace.path, config: { network } };
  const answer = await callPlugin(agent.socket, request);
  assert.ok(answer?.ok, JSON.stringify(answer?.json));
  const { ips, interfaces } = answer.json as unknown as {
    ips: { address: string; interface: number }[];
    interfaces: { name: string; sandbox?: string }[];
  };
  assert.equal(interfaces[ips[0]!.interface]?.sandbox, namespace.path);
  return { namespace, address: ips[0]!.address.split('/')[0]!, link: interfaces[0]!.name };
}

async function assertReached(from: TestNamespace, { namespace, address }: Pod): Promise<void> {
  await assertPasses(from, namespace, address);
}

const tether = tetherOf('n1');
const readTether = () => host.run(['ip', 'route', 'show', 'type', 'blackhole', tether]);

test("a model's own scope is in the kernel, and is put back when another program removes it", async () => {
  assert.match(await readTether(), /metric 7/);
  await host.run(['ip', 'route', 'del', 'blackhole', tether, 'metric', '7']);
  await eventually('the route is back', async () => (await readTether()).includes('metric 7'));
});

test('pods of both networks reach each other, survive a restart untouched, and go without a trace', async () => {
  const pods = [await addPod('default'), await addPod('flat'), await addPod('default'), await addPod('flat')];
  assert.deepEqual(
    pods.map(({ link }) => link.slice(0, 3)),
    ['cal', 'pln', 'cal', 'pln'],
  );
  for (const from of pods) for (const to of pods) if (from !== to) await assertReached(from.namespace, to);
  for (const pod of pods) await assertReached(host.namespace, pod);

  await agent.stop();
  await agent.start();
  const { lastReconcile } = (await askApi(agent.apiSocket, '/v1/status')) as {
    lastReconcile: { changes: unknown[] };
  };
  assert.deepEqual(lastReconcile.changes, []);
  const { endpoints } = (await askApi(agent.apiSocket, '/v1/endpoints')) as {
    endpoints: { hostInterface: string }[];
  };
  const shown = endpoints.map(({ hostInterface }) => hostInterface);
  assert.deepEqual(shown.sort(), pods.map(({ link }) => link).sort());
  for (const to of pods.slice(1)) await assertReached(pods[0]!.namespace, to);

  for (const { namespace } of pods) {
    const request = { command: 'DEL', id: namespace.name, netns: namespace.path, config: {} };
    assert.ok((await callPlugin(agent.socket, request))?.ok);
  }
  // Links are deleted moments after DEL; an agent that stops deletes them before.
  await agent.stop();
  for (const { link } of pods)
    await assert.rejects(host.run(['ip', 'link', 'show', link]), `${link} is still there`);
});
