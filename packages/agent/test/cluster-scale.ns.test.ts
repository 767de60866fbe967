/** One real agent on a real kernel among thousands of nodes that exist in the store alone. Prints what it took; asserts what is there. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { blockKind, completePool, keysBelow, nodeKind, poolKind } from '@podwire/cluster-state';
import { silentLog, systemClock } from '@podwire/platform';
import { encodeObject, openStore, type Store, type Write } from '@podwire/store';
import { type Agent, createPrivateHost, eventually, type PrivateHost, startAgent } from '@podwire/testkit';
import { agentEntry, keys, startTimeout } from './fakes/cluster-fixture.js';
import { askApi } from './fakes/plugin-client.js';

const count = 2_000;

let host: PrivateHost;
let store: Store;
let agent: Agent;

before(async () => {
  host = await createPrivateHost({ name: 'scale', world: true });
  const directory = path.join(host.directory, 'store');
  store = await openStore({ kind: 'embedded', directory }, { log: silentLog, clock: systemClock });
  await write([putPool('v4', '10.128.0.0/9'), putPool('v6', 'fd00:244::/104')]);
  await write(Array.from({ length: count }, (_, index) => putNode(index + 1)).flat());
  const cluster = { store: { kind: 'embedded', directory }, controller: false };
  agent = await startAgent(host, {
    entry: agentEntry,
    config: { networks: [{ name: 'default' }], cluster },
    timeout: startTimeout,
  });
});
after(async () => {
  await store?.close();
  await host?.close();
});

const putPool = (name: string, cidr: string): Write => ({
  op: 'put',
  key: keysBelow('/podwire').pool(name),
  value: encodeObject(poolKind, completePool({ name, cidr, encapsulation: 'vxlan', borrowing: false })),
});

const block4 = (index: number): string =>
  `10.${128 + (index >> 10)}.${(index >> 2) & 255}.${(index & 3) * 64}`;
const block6 = (index: number): string =>
  `fd00:244::${(index >> 10).toString(16)}:${((index & 1023) * 64).toString(16)}`;
const nameOf = (index: number): string => `peer${index}`;

/** A node with a block of each family. */
function putNode(index: number): Write[] {
  const name = nameOf(index);
  const mac = `02:00:00:00:${[index >> 8, index & 255].map((byte) => byte.toString(16).padStart(2, '0')).join(':')}`;
  const block = (cidr: string): Write => ({
    op: 'put',
    key: keys.block(cidr),
    value: encodeObject(blockKind, {
      cidr,
      node: name,
      instance: name,
      state: 'confirmed',
      claimedAt: 1,
      loans: [],
    }),
  });
  const node = {
    name,
    instance: name,
    version: '0',
    labels: {},
    addresses: {
      ipv4: `192.0.2.${20 + (index % 200)}/24`,
      ipv6: `2001:db8:2::${(index + 32).toString(16)}/64`,
    },
    mtu: 1500,
    tunnel: { mac, ipv4: block4(index), ipv6: block6(index) },
    registeredAt: 1,
  };
  return [
    block(`${block4(index)}/26`),
    block(`${block6(index)}/122`),
    { op: 'put', key: keys.node(name), value: encodeObject(nodeKind, node) },
  ];
}

async function write(writes: readonly Write[]): Promise<void> {
  const { operations } = store.limits;
  for (let at = 0; at < writes.length; at += operations) {
    await store.transact({ conditions: [], writes: writes.slice(at, at + operations) });
  }
}

/** How many of Podwire's routes go through the tunnel, for both families; and forwarding entries. */
async function countWays(): Promise<number[]> {
  const lists = await Promise.all([
    host.run(['ip', '-4', '-json', 'route', 'show', 'dev', 'podwire-vx', 'proto', '157']),
    host.run(['ip', '-6', '-json', 'route', 'show', 'dev', 'podwire-vx', 'proto', '157']),
    host.run(['bridge', '-json', 'fdb', 'show', 'dev', 'podwire-vx']),
  ]);
  return lists.map((text) => (JSON.parse(text) as unknown[]).length);
}

const readyAfter = (): number =>
  agent
    .log()
    .split('\n')
    .filter((line) => line.includes('"msg":"ready"'))
    .map((line) => (JSON.parse(line) as { ms: number }).ms)
    .at(-1)!;
const residentMegabytes = async (): Promise<number> =>
  Math.round(((await askApi(agent.apiSocket, '/v1/status'))['memory'] as { rss: number }).rss / 2 ** 20);

test('every peer is led to when the agent is ready', async (context) => {
  assert.deepEqual(await countWays(), [count, count, count]);
  context.diagnostic(
    `${count} peers: ready after ${readyAfter()} ms, ${await residentMegabytes()} MiB resident`,
  );
});

test('a node that comes is led to, a reconcile finds nothing to do, a node that goes leaves nothing', async (context) => {
  const begin = performance.now();
  await write(putNode(count + 1));
  await eventually('the new node is led to', async () => (await countWays())[0] === count + 1);
  context.diagnostic(`a new node: ${Math.round(performance.now() - begin)} ms, looking included`);
  const report = await askApi(agent.apiSocket, '/v1/reconcile', {});
  assert.deepEqual([report['changes'], report['failures']], [[], []]);
  context.diagnostic(`reconcile: ${Math.round(report['duration'] as number)} ms`);
  await store.delete(keys.node(nameOf(count + 1)));
  await eventually('it is forgotten', async () => (await countWays()).every((ways) => ways === count));
});

test('a tunnel that another program deletes comes back with everything on it', async () => {
  await host.run(['ip', 'link', 'del', 'podwire-vx']);
  const report = await askApi(agent.apiSocket, '/v1/reconcile', {});
  assert.deepEqual(report['failures'], []);
  assert.deepEqual(await countWays(), [count, count, count]);
});

test('an agent that starts again finds everything as it was', async (context) => {
  await agent.stop();
  await agent.start();
  assert.deepEqual(await countWays(), [count, count, count]);
  const { lastReconcile } = (await askApi(agent.apiSocket, '/v1/status')) as {
    lastReconcile?: { changes: unknown[] };
  };
  assert.deepEqual(lastReconcile?.changes, []);
  context.diagnostic(`again: ready after ${readyAfter()} ms, ${await residentMegabytes()} MiB resident`);
});
