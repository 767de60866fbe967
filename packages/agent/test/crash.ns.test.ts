/**
 * kill -9 at every point of ADD, DEL and GC that the agent and its engine offer, then a restart: the endpoint is either
 * fully there or fully gone, and so are its record, its addresses and its host ports.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import {
  type Agent,
  assertSameSnapshot,
  createPrivateHost,
  type PrivateHost,
  type Snapshot,
  startAgent,
  takeSnapshot,
  type TestNamespace,
} from '@podwire/testkit';
import { askApi, callPlugin, type ClientAnswer } from './fakes/plugin-client.js';

const entry = [process.execPath, path.join(import.meta.dirname, 'faulty-agent.js')];
const config = {
  runtimeConfig: {
    portMappings: [{ hostPort: 8080, containerPort: 80, protocol: 'udp' }],
    bandwidth: { ingressRate: 1_000_000, egressRate: 1_000_000 },
  },
};

let host: PrivateHost;
let agent: Agent;
let pod: TestNamespace;
let faultLog: string;
/** With an agent that has never served a pod, stopped. */
let untouched: Snapshot;

before(async () => {
  host = await createPrivateHost({ name: 'crash', world: true });
  faultLog = path.join(host.directory, 'points');
  pod = host.addPod();
  // `single`: there is a point between any two resources.
  agent = await startAgent(host, { entry, env: { FAULT_SINGLE: '1' }, config: { coolDown: '0s' } });
  await agent.stop();
  untouched = await takeSnapshot(host.namespace, { files: [agent.stateDirectory] });
});
after(async () => host.close());

const call = async (command: string, more: object = {}): Promise<ClientAnswer | undefined> =>
  callPlugin(agent.socket, { command, id: pod.name, netns: pod.path, config: { ...config, ...more } });

async function succeed(command: string, more: object = {}): Promise<ClientAnswer['json']> {
  const answer = await call(command, more);
  assert.ok(answer?.ok, `${command}: ${JSON.stringify(answer)}`);
  return answer.json;
}

interface Case {
  readonly command: string;
  readonly more: Readonly<Record<string, unknown>>;
  /** The first point that the command reaches. */
  readonly from: string;
  /** Whether there must be an endpoint first. */
  readonly added: boolean;
  /** The point at which its outcome changes, from fully there to fully gone or the other way round. */
  readonly turn: string;
  /** So many points it has at least. */
  readonly least: number;
}

/** The points that a command passes, in order. Leaves the agent stopped and nothing behind. */
async function recordPoints({ command, more, from, added }: Case): Promise<string[]> {
  fs.rmSync(faultLog, { force: true });
  await agent.start({ FAULT_LOG: faultLog, FAULT_FROM: from });
  if (added) await succeed('ADD');
  await succeed(command, more);
  const points = fs.readFileSync(faultLog, 'utf8').trim().split('\n');
  if (!added) await succeed('DEL');
  await agent.stop();
  return points;
}

/** Kills the agent at the point, lets another one recover, and says whether the endpoint is there. */
async function dieAt(point: number, { command, more, from, added }: Case): Promise<boolean> {
  await agent.start({ FAULT_AT: String(point), FAULT_FROM: from });
  if (added) await succeed('ADD');
  await call(command, more);
  assert.deepEqual(await agent.exited(), { code: null, signal: 'SIGKILL' });
  await agent.start();
  const { endpoints } = await askApi(agent.apiSocket, '/v1/endpoints');
  const { networks } = (await askApi(agent.apiSocket, '/v1/ipam')) as { networks: { leases: unknown[] }[] };
  const isThere = (endpoints as unknown[]).length === 1;
  assert.equal(networks[0]?.leases.length, isThere ? 2 : 0);
  assert.deepEqual((await askApi(agent.apiSocket, '/v1/status'))['recordProblems'], []);
  return isThere;
}

/** All of it: the same ADD again finds nothing to do, CHECK nothing to complain about, and DEL takes it away. */
async function assertComplete(): Promise<void> {
  const prevResult = await succeed('ADD');
  await succeed('CHECK', { prevResult });
  await succeed('DEL');
  await agent.stop();
}

/** Nothing of it: the host is as if there had never been a pod. */
async function assertGone(): Promise<void> {
  await agent.stop();
  const snapshot = await takeSnapshot(host.namespace, { files: [agent.stateDirectory] });
  assertSameSnapshot(untouched, snapshot);
}

const valid = { 'cni.dev/valid-attachments': [] };
const cases: Case[] = [
  { command: 'ADD', more: {}, from: 'add:validated', added: false, turn: 'add:ready', least: 25 },
  { command: 'DEL', more: {}, from: 'dismantle:marked', added: true, turn: 'dismantle:marked', least: 6 },
  { command: 'GC', more: valid, from: 'gc:next', added: true, turn: 'dismantle:marked', least: 7 },
];

for (const given of cases) {
  describe(`kill -9 at every point of ${given.command}`, () => {
    test('and a restart', async (t) => {
      const points = await recordPoints(given);
      assert.ok(points.length >= given.least, `only ${points.length} points: ${points.join(' ')}`);
      for (const [index, point] of points.entries()) {
        await t.test(`${index + 1}: ${point}`, async () => {
          const isThere = await dieAt(index + 1, given);
          const hasTurned = index >= points.indexOf(given.turn);
          assert.equal(isThere, hasTurned !== given.added);
          await (isThere ? assertComplete() : assertGone());
        });
      }
    });
  });
}
