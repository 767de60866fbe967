/** Where pods' addresses come from in a cluster, with real node addressing on a store in memory. */
import { type Workload, workloadKind } from '@podwire/cluster-state';
import { encodeObject } from '@podwire/store';
import { expect, test } from 'vitest';
import { planAdds } from '../../src/api/plan.js';
import { apiRoutes } from '../../src/api/routes.js';
import { createTestCluster, keys, type TestCluster, type TestNode, until } from '../fakes/cluster.js';
import type { TestAnswer } from '../fakes/harness.js';
import { containing } from '../fakes/matchers.js';

const addressesOf = ({ json }: TestAnswer): string[] =>
  ((json['ips'] ?? []) as { address: string }[]).map(({ address }) => address.split('/')[0]!);

async function startNodes(cluster: TestCluster, ...names: string[]): Promise<TestNode[]> {
  const nodes = names.map((name) => cluster.node(name));
  for (const node of nodes) await node.start();
  return nodes;
}

const routesTo = ({ engine }: TestNode, destination: string): unknown[] =>
  [...engine.present.values()]
    .map(({ resource }) => resource)
    .filter((resource) => resource.kind === 'route' && resource.destination === destination);

const podArgs = (name: string): string => `IgnoreUnknown=1;K8S_POD_NAMESPACE=web;K8S_POD_NAME=${name}`;
const call = (node: TestNode, command: string, name: string, args = '') =>
  node.call(command, { id: name, args: `${podArgs(name)}${args}` });

test('more pods than a block holds: the next block is there, and nothing is given twice', async () => {
  const cluster = createTestCluster();
  await cluster.putPool({ name: 'p', cidr: '10.9.0.0/26', blockSize: 29 });
  const nodes = await startNodes(cluster, 'n1', 'n2');
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, index) => call(nodes[index % 2]!, 'ADD', `pod${index}`)),
  );
  const all = answers.flatMap(addressesOf);
  expect(answers.filter(({ ok }) => !ok)).toEqual([]);
  expect(new Set(all).size).toBe(40);
  for (const node of nodes) {
    expect(node.engine.violations).toEqual([]);
    await until(() => node.engine.of('node').filter(({ kind }) => kind === 'route').length >= 3);
  }
});

test('a pool that is used up is told so', async () => {
  const cluster = createTestCluster();
  await cluster.putPool({ name: 'p', cidr: '10.9.0.0/29', blockSize: 30 });
  const [node] = (await startNodes(cluster, 'n1')) as [TestNode];
  const answers: TestAnswer[] = [];
  for (let index = 0; index < 9; index++) answers.push(await call(node, 'ADD', `pod${index}`));
  // The first and the last address of the pool are not handed out.
  expect(answers.filter(({ ok }) => ok)).toHaveLength(6);
  expect(answers.at(-1)?.json).toMatchObject({ code: 11, msg: containing('POOL_EXHAUSTED') });
  expect((await node.call('STATUS')).json).toMatchObject({ code: 50 });
});

test('without the store a node that has run out says that the store is away', async () => {
  const cluster = createTestCluster();
  await cluster.putPool({ name: 'p', cidr: '10.9.0.0/24', blockSize: 30 });
  const node = cluster.node('n1', { cluster: '  reportInterval: 10ms' });
  await node.start();
  node.store.cut();
  let refused: TestAnswer | undefined;
  for (let index = 0; index < 20 && refused === undefined; index++) {
    const answer = await call(node, 'ADD', `pod${index}`);
    if (!answer.ok) refused = answer;
  }
  expect(refused?.json.msg).toMatch(/STORE_UNAVAILABLE|POOL_EXHAUSTED/);
  node.store.restore();
  await until(async () => (await call(node, 'ADD', 'late')).ok);
});

test('an address of another node’s block is borrowed, and all peers route it to the borrower', async () => {
  const cluster = createTestCluster();
  await cluster.putPool({ name: 'p', cidr: '10.9.0.0/24', blockSize: 28, borrowing: true });
  const [one, two, three] = (await startNodes(cluster, 'n1', 'n2', 'n3')) as [TestNode, TestNode, TestNode];
  const [first] = addressesOf(await call(one, 'ADD', 'a')) as [string];
  const wanted = first.replace(/\d+$/, (last) => String((Number(last) & ~15) + 9));
  expect((await call(one, 'ADD', 'other', `;IP=${first}`)).json.msg).toContain('ADDRESS_IN_USE');
  const answer = await call(two, 'ADD', 'b', `;IP=${wanted}`);
  expect(addressesOf(answer)).toEqual([wanted]);
  const via = two.member.facts.underlay!.ipv4!.split('/')[0]!;
  for (const node of [one, three]) {
    await until(() => routesTo(node, `${wanted}/32`).length > 0);
    expect(routesTo(node, `${wanted}/32`)).toMatchObject([{ gateway: via }]);
  }
  // The owner does not hand it out.
  expect((await call(one, 'ADD', 'c', `;IP=${wanted}`)).ok).toBe(false);
});

test('a sticky pod gets its address again on another node', async () => {
  const cluster = createTestCluster();
  await cluster.putPool({ name: 'p', cidr: '10.9.0.0/24', blockSize: 28, borrowing: true });
  const workload: Workload = {
    network: 'default',
    namespace: 'web',
    name: 'db-*',
    addresses: [],
    pools: [],
    sticky: true,
    assigned: {},
  };
  const key = keys.workload('default', 'web', 'db-*'.replace('*', '_'));
  await cluster.store.put(key, encodeObject(workloadKind, workload));
  const [one, two] = (await startNodes(cluster, 'n1', 'n2')) as [TestNode, TestNode];
  await until(() => one.member.addressing.hasWorkload('default', { namespace: 'web', name: 'db-0' }));
  const before = addressesOf(await call(one, 'ADD', 'db-0'));
  expect(before).toHaveLength(1);
  await until(async () => (await cluster.store.get(key))?.value.includes(before[0]!));
  expect((await call(one, 'DEL', 'db-0')).ok).toBe(true);
  await until(async () => {
    const answer = await call(two, 'ADD', 'db-0');
    if (answer.ok) return addressesOf(answer)[0] === before[0];
    return false;
  });
});

test('planning claims nothing and takes nothing', async () => {
  const cluster = createTestCluster();
  await cluster.putPool({ name: 'p', cidr: '10.9.0.0/24', blockSize: 28 });
  const [node] = (await startNodes(cluster, 'n1')) as [TestNode];
  const before = node.addressing.affinities();
  const plans = planAdds(node.context, [{ containerId: 'a' }, { containerId: 'b' }]);
  expect(new Set(plans.flatMap(({ addresses }) => addresses)).size).toBe(2);
  expect(node.addressing.affinities()).toEqual(before);
  expect(node.context.networks[0]?.ipam.leases()).toEqual([]);
});

test('the API shows the cluster, its peers, and what is wrong', async () => {
  const cluster = createTestCluster();
  await cluster.putPool({ name: 'p', cidr: '10.9.0.0/24', blockSize: 28, encapsulation: 'vxlan' });
  const one = cluster.node('n1');
  // IPv6 only: there is no way to it.
  const two = cluster.node('n2', { addresses: ['2001:db8::99/64'] });
  for (const node of [one, two]) {
    await node.start();
    await node.call('ADD');
  }
  await until(() => (one.member.peers.known.get('n2')?.blocks.length ?? 0) > 0);
  const configuration = { file: null, hash: null, loadedAt: '', applied: [], waiting: [], problem: null };
  const ask = async (path: keyof typeof apiRoutes): Promise<Record<string, unknown>> => {
    const api = {
      context: one.context,
      metrics: one.service.metrics,
      reconciler: one.reconciler,
      drift: one.drift,
      traces: one.service.traces,
      configuration: { view: () => configuration, reload: () => Promise.resolve(configuration) },
      nodeName: 'n1',
      version: '1',
      startedAt: 0,
      connections: () => 0,
      deadline: 1_000,
    };
    const answer = await apiRoutes[path]!(api, {
      rest: '',
      query: new URLSearchParams(),
      body: undefined,
      signal: new AbortController().signal,
    });
    return ('json' in answer ? answer.json : answer) as Record<string, unknown>;
  };
  const { cluster: shown, ready } = await ask('GET /v1/status');
  expect(ready).toBe(true);
  expect(shown).toMatchObject({
    store: { kind: 'memory', connected: true },
    standing: 'registered',
    fenced: false,
    peers: { count: 1, withProblems: 1, unreachable: [] },
    controller: { enabled: true },
  });
  const { peers } = await ask('GET /v1/peers');
  expect(peers).toMatchObject([{ name: 'n2', reachable: true, problems: [containing('is unreachable')] }]);
  const { text } = await one.service.metrics.render();
  const lines = text.split('\n');
  for (const line of [
    'podwire_store_connected 1',
    'podwire_node_registered 1',
    'podwire_node_fenced 0',
    'podwire_peers 1',
    'podwire_peers_unreachable 0',
    'podwire_peers_failed 0',
  ]) {
    expect(lines).toContain(line);
  }
  expect(text).toMatch(/^podwire_blocks\{state="(confirmed|pending)"\} [1-9]/m);
  one.store.cut();
  await until(async () => (await one.service.metrics.render()).text.includes('podwire_store_connected 0'));
});
