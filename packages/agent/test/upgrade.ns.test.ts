/** Agents of other versions take over from each other while a pod is pinged. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import {
  type Agent,
  createPrivateHost,
  type PrivateHost,
  type RunningPing,
  startAgent,
  startPing,
} from '@podwire/testkit';
import { callPlugin } from './fakes/plugin-client.js';

let host: PrivateHost;
let agent: Agent;
let ping: RunningPing;
before(async () => {
  host = await createPrivateHost({ name: 'upgrade', world: true });
  agent = await startAgent(host, {
    config: { networks: [{ name: 'default', pools: [{ cidr: '10.1.0.0/24' }] }] },
  });
  const netns = host.addPod('web').path;
  const answer = await callPlugin(agent.socket, { command: 'ADD', id: 'web', netns });
  assert.ok(answer?.ok, JSON.stringify(answer?.json));
  const [{ address = '' } = {}] = answer.json['ips'] as { address?: string }[];
  ping = startPing(host.namespace, address.split('/')[0]!);
  await ping.waitForAnswers(1);
});
after(() => host?.close());

const directory = (): string => path.join(agent.stateDirectory, 'endpoints');

/** Rewrites all records as another version would have left them. */
function rewrite(change: object): void {
  for (const name of fs.readdirSync(directory())) {
    const file = path.join(directory(), name);
    const record = JSON.parse(fs.readFileSync(file, 'utf8')) as object;
    fs.writeFileSync(file, JSON.stringify({ ...record, ...change }));
  }
}

async function assertNoLoss(): Promise<void> {
  await ping.waitForAnswers(5);
  assert.deepEqual(ping.report().lost, []);
}

test('a newer agent with more fields, and back: the pod loses no packet', async () => {
  await agent.stop();
  rewrite({ later: { added: 'by the next version' } });
  await agent.start();
  await assertNoLoss();
  await agent.stop();
  await agent.start();
  await assertNoLoss();
  const [name = ''] = fs.readdirSync(directory());
  assert.match(fs.readFileSync(path.join(directory(), name), 'utf8'), /by the next version/);
});

test('records of a newer version: the agent refuses to start, and the pod keeps its network', async () => {
  await agent.stop();
  rewrite({ version: 2 });
  await assert.rejects(agent.start(), /RECORD_TOO_NEW|reads version 1/);
  await assertNoLoss();
  rewrite({ version: 1 });
  await agent.start();
  await assertNoLoss();
});

test('the pod is deleted by the agent that came back', async () => {
  await ping.stop();
  const answer = await callPlugin(agent.socket, { command: 'DEL', id: 'web', netns: host.pods[0]!.path });
  assert.ok(answer?.ok, JSON.stringify(answer?.json));
  assert.deepEqual(fs.readdirSync(directory()), []);
});
