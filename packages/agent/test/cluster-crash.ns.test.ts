/** An agent that dies at every step of joining, claiming its first blocks, and serving its first pod. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { containsAddress, parseAddress, parsePrefix } from '@podwire/addresses';
import { type Block, blockKind, poolKind } from '@podwire/cluster-state';
import { silentLog, systemClock } from '@podwire/platform';
import { decodeObject, encodeObject, openStore, type Store } from '@podwire/store';
import {
  type Agent,
  assertSameSnapshot,
  createPrivateHost,
  eventually,
  type PrivateHost,
  type Snapshot,
  startAgent,
  takeSnapshot,
  type TestNamespace,
} from '@podwire/testkit';
import { addressesOf, agentEntry, keys, startTimeout } from './fakes/cluster-fixture.js';
import { fillPool } from './fakes/pools.js';
import { askApi, callPlugin, type ClientAnswer } from './fakes/plugin-client.js';

const steps = '^(register|take-over|claim|add|teardown|report):';

let host: PrivateHost;
let store: Store;
let agent: Agent;
let pod: TestNamespace;
/** After the first of the lives; which blocks a node begins with depends on its name alone. */
let untouched: Snapshot;

before(async () => {
  host = await createPrivateHost({ name: 'crash', world: true });
  const directory = path.join(host.directory, 'store');
  store = await openStore({ kind: 'embedded', directory }, { log: silentLog, clock: systemClock });
  const cluster = {
    store: { kind: 'embedded', directory },
    lease: '1s',
    reportInterval: '10ms',
    controller: false,
  };
  agent = await startAgent(host, {
    entry: agentEntry,
    config: { nodeName: 'n1', networks: [{ name: 'default' }], coolDown: '0s', cluster },
    timeout: startTimeout,
  });
  for (const part of [
    { name: 'v4', cidr: '10.244.0.0/16', encapsulation: 'vxlan' as const },
    { name: 'v6', cidr: 'fd00:244::/108', encapsulation: 'vxlan' as const },
  ]) {
    await store.put(keys.pool(part.name), encodeObject(poolKind, fillPool(part)));
  }
  pod = host.addPod();
  await agent.stop();
});
after(async () => {
  await store?.close();
  await host?.close();
});

/** As if the cluster had never seen the node, nor the node the cluster. */
async function beginAnew(): Promise<void> {
  const { items } = await store.list('/podwire/');
  for (const { key } of items) if (!key.startsWith(keys.pool(''))) await store.delete(key);
  // The node's forwarding before it became a router stays: this host does not boot between two lives.
  for (const name of fs.readdirSync(agent.stateDirectory))
    if (name !== 'router.json') fs.rmSync(path.join(agent.stateDirectory, name), { recursive: true });
}

async function call(command: string): Promise<ClientAnswer | undefined> {
  return callPlugin(agent.socket, { command, id: pod.name, netns: pod.path });
}

/** As a runtime does, which calls again after code 11: a busy machine may outlast the lease of a second. */
async function addPod(): Promise<ClientAnswer | undefined> {
  let answer: ClientAnswer | undefined;
  await eventually('the agent serves an ADD', async () => {
    answer = await call('ADD');
    return answer?.json.code !== 11;
  });
  return answer;
}

async function blocks(): Promise<Block[]> {
  const { items } = await store.list('/podwire/shared/blocks/');
  return items.map(({ key, value }) => decodeObject(blockKind, key, value));
}

/** @returns whether it came to its end */
async function liveUntil(step: number): Promise<boolean> {
  try {
    await agent.start({ FAULT_ONLY: steps, FAULT_AT: String(step) });
    for (const command of ['ADD', 'DEL']) if ((await call(command)) === undefined) throw new Error('it died');
    await eventually('everything is reported', async () => (await unreported()) === 0);
    return false;
  } catch {
    await agent.exited();
    return true;
  }
}

async function unreported(): Promise<number> {
  const { cluster } = (await askApi(agent.apiSocket, '/v1/status')) as unknown as {
    cluster: { unreported: number };
  };
  return cluster.unreported;
}

test('the next life serves as if nothing had happened, and nothing is left behind', async (context) => {
  let step = 1;
  for (; ; step++) {
    await beginAnew();
    if (!(await liveUntil(step))) break;
    await agent.start({});
    const answer = await addPod();
    assert.ok(answer?.ok, `step ${step}: ${JSON.stringify(answer?.json)}`);
    const addresses = addressesOf(answer.json).map((address) => parseAddress(address));
    assert.equal(addresses.length, 2);
    const owned = await blocks();
    for (const address of addresses) {
      const around = owned.filter(({ cidr }) => containsAddress(parsePrefix(cidr), address));
      assert.deepEqual(
        around.map(({ node }) => node),
        ['n1'],
        `step ${step}`,
      );
    }
    // One of each family in use, at most one in stock: no life has claimed beside what the one before had.
    assert.ok(owned.length <= 4, `step ${step}: ${owned.map(({ cidr }) => cidr).join(' ')}`);
    assert.ok((await call('DEL'))?.ok, `step ${step}`);
    await eventually(
      `step ${step}: the allocation record has no pod`,
      async () => !(await reported()).includes(pod.name),
    );
    await agent.stop();
    const now = nameTunnel(
      await takeSnapshot(host.namespace, { files: [path.join(agent.stateDirectory, 'endpoints')] }),
    );
    assertHeld(now, await blocks(), step);
    if (step === 1) untouched = now;
    else assertSameSnapshot(untouched, now, { ignore: [blackhole] });
  }
  await agent.stop();
  assert.ok(step > 15, `only ${step - 1} steps were found`);
  context.diagnostic(`died at ${step - 1} steps`);
});

const blackhole = /^routes\/blackhole (\S+)/;

/** Blocks in stock come and go with chance: the node takes packets for what it holds, and for nothing else. */
function assertHeld({ routes = {} }: Snapshot, held: readonly Block[], step: number): void {
  const blocks = new Set(held.map(({ cidr }) => cidr));
  const taken = Object.keys(routes).flatMap((key) => blackhole.exec(`routes/${key}`)?.[1] ?? []);
  assert.ok(taken.length >= 2, `step ${step}: ${taken.join(' ')}`);
  assert.deepEqual(
    taken.filter((cidr) => !blocks.has(cidr)),
    [],
    `step ${step}`,
  );
}

/** Which address of its block the node's end of tunnels has depends on who came first in either life, it or the pod. */
function nameTunnel(snapshot: Snapshot): Snapshot {
  const { tunnel } = JSON.parse(fs.readFileSync(path.join(agent.stateDirectory, 'node.json'), 'utf8')) as {
    tunnel: Record<string, string>;
  };
  const named = Object.entries(tunnel).reduce((text, [family, address]) => {
    // Not the block, which begins with the same address and has another length.
    const whole = new RegExp(`${address.replaceAll('.', '\\.')}(?![\\da-f:.]|/(?!32\\b|128\\b))`, 'g');
    return text.replaceAll(whole, family);
  }, JSON.stringify(snapshot));
  return JSON.parse(named) as Snapshot;
}

async function reported(): Promise<string> {
  return JSON.stringify((await store.list('/podwire/ledgers/')).items);
}
