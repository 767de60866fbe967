/** A model with scopes and published facts of its own, on the nodes of a cluster. */
import { randomBytes } from 'node:crypto';
import { createLinuxBackends } from '@podwire/backend-linux';
import { createFakeSystem } from '@podwire/backend-linux/fake';
import { createEngine, type Resource } from '@podwire/engine';
import { listRoutes } from '@podwire/netlink';
import type { NetworkModel } from '@podwire/network-contract';
import { describe, expect, test } from 'vitest';
import { indexModels, networkModels } from '../../src/models.js';
import { describeScopeProblems } from '../../src/node/model-scopes.js';
import { createTestCluster, keys, type TestCluster, type TestNode, until } from '../fakes/cluster.js';
import { makeUplink } from '../fakes/peer-world.js';
import { namespacesOf } from '../fakes/system-namespaces.js';
import { createReadyHarness, type Harness, keyOf } from '../fakes/harness.js';
import { createTethers, tetherOf } from '../two-models/plain-model.js';

/** The model of the registry, with a scope for each node and the fact that it is planned from. */
const createModel = (tether: (node: string) => string): NetworkModel => ({
  ...networkModels[0],
  encapsulations: ['tether'],
  needsTunnelAddress: () => false,
  scopes: [createTethers('routed')],
  publish: ({ name }) => ({ tether: tether(name) }),
});

async function startNode(
  cluster: TestCluster,
  name: string,
  tether: (node: string) => string = tetherOf,
): Promise<TestNode> {
  const node = cluster.node(name, { dependencies: { models: indexModels([createModel(tether)]) } });
  await node.start();
  return node;
}

/** Names of the nodes whose scopes are in the kernel. */
const tethersOn = ({ engine }: Pick<Harness, 'engine'>): string[] =>
  ['n1', 'n2', 'n3', 'node1'].filter((name) =>
    [...engine.present.values()].some(
      ({ resource }) => resource.kind === 'route' && resource.destination === tetherOf(name),
    ),
  );

test('an encapsulation of its own is taken where the model has it, and is a problem elsewhere', async () => {
  const cluster = createTestCluster();
  await cluster.putPool({ name: 'v4', cidr: '10.244.0.0/16', encapsulation: 'tether' });
  const one = await startNode(cluster, 'n1');
  await until(async () => (await one.call('ADD')).ok);
  const other = cluster.node('n2');
  await other.start();
  await until(() => other.member.problems().length > 0);
  expect(other.member.problems().join()).toContain(
    'pool v4 has the encapsulation tether; the model routed has',
  );
});

describe('scopes that an endpoint needs', () => {
  const blockOf = (id: string): string => id.split('/').slice(1).join('/');

  /** A scope for each block of the node, and endpoints that need those of all its blocks. */
  const needing: NetworkModel = {
    ...networkModels[0],
    scopes: [
      {
        kind: 'pen',
        list: (read) => read('sides').flatMap(({ view }) => view.blocks),
        plan: (block) => [{ kind: 'route', in: 'host', type: 'blackhole', destination: block, metric: 7 }],
      },
    ],
    planEndpoint: (endpoint, node) => ({
      ...networkModels[0].planEndpoint(endpoint, node),
      needs: node.blocks.map((block) => `pen/${block}`),
    }),
  };
  const yaml = 'networks: [{ name: n, pools: [{ cidr: 10.1.0.0/24, blockSize: 31 }] }]';
  const dependencies = { models: indexModels([needing]) };
  const pensOn = ({ engine }: Harness): string[] =>
    [...engine.present.values()].flatMap(({ resource }) =>
      resource.kind === 'route' && resource.metric === 7 ? [resource.destination] : [],
    );

  test('are in force before the pod is wired, also where its block is new', async () => {
    const agent = await createReadyHarness({ yaml, dependencies });
    const pens: string[][] = [];
    agent.engine.between = (point) => {
      if (point === 'apply veth') pens.push(pensOn(agent));
    };
    for (const id of ['c1', 'c2']) expect((await agent.call('ADD', { id })).ok).toBe(true);
    expect(pens).toEqual([['10.1.0.0/31'], ['10.1.0.0/31', '10.1.0.2/31']]);
    const { needs } = agent.context.endpoints.get(keyOf('c2'))!;
    expect(needs!.map(blockOf)).toEqual(['10.1.0.0/31', '10.1.0.2/31']);
  });

  test('are not planned again by an ADD that finds them in force', async () => {
    const agent = await createReadyHarness({ yaml: yaml.replace('31', '26'), dependencies });
    await agent.call('ADD', { id: 'c1' });
    const { revision } = agent.context.desired;
    await agent.call('ADD', { id: 'c2' });
    expect(agent.context.desired.revision).toBe(revision);
  });

  test('make the ADD fail where they cannot be, and the next one tries again', async () => {
    const agent = await createReadyHarness({ yaml, dependencies });
    agent.engine.between = () => {
      if (agent.engine.busy.has('pen:10.1.0.0/31')) throw new Error('ENOSPC');
    };
    const { ok, json } = await agent.call('ADD');
    expect([ok, json.code]).toEqual([false, 11]);
    expect(json.msg).toContain('PLAN_FAILED: the pod needs pen/10.1.0.0/31');
    expect(agent.context.endpoints.size).toBe(0);
    agent.engine.between = () => undefined;
    expect((await agent.call('ADD')).ok).toBe(true);
    expect(pensOn(agent)).toContain('10.1.0.0/31');
  });
});

describe('a resource that several endpoints want', () => {
  /** @param mtuOf by the pod: of a route that all pods have */
  const createSharing = (mtuOf: (id: string) => number): NetworkModel => ({
    ...networkModels[0],
    planEndpoint(endpoint, node) {
      const planned = networkModels[0].planEndpoint(endpoint, node);
      const mtu = mtuOf(endpoint.id.containerId);
      const shared: Resource = { kind: 'route', in: 'host', destination: '198.18.0.0/24', link: 'eth0', mtu };
      return { ...planned, resources: [...planned.resources, shared] };
    },
  });

  /** An agent with a real engine, on a kernel in memory. */
  async function create(mtuOf: (id: string) => number = () => 1400) {
    const system = createFakeSystem();
    makeUplink(system.host.route);
    const engine = createEngine({ backends: createLinuxBackends(system) });
    const models = indexModels([createSharing(mtuOf)]);
    const namespaces = namespacesOf(system);
    const dependencies = { models, engine, namespaces, random: randomBytes };
    const agent = await createReadyHarness({ dependencies });
    const listDestinations = (): string[] =>
      listRoutes(system.host.route).map(({ destination }) => destination);
    return { agent, listDestinations, isThere: () => listDestinations().includes('198.18.0.0/24') };
  }

  test('is made by the first ADD and goes with the last DEL, also after a restart', async () => {
    const { agent, isThere } = await create();
    for (const id of ['c1', 'c2', 'c3']) expect((await agent.call('ADD', { id })).ok).toBe(true);
    await agent.call('DEL', { id: 'c1' });
    expect(isThere()).toBe(true);
    const after = agent.restart();
    await after.recover();
    await after.call('DEL', { id: 'c2' });
    expect(isThere()).toBe(true);
    await after.call('DEL', { id: 'c3' });
    expect(isThere()).toBe(false);
  });

  test('stays where an ADD that wants it, too, is taken back', async () => {
    const { agent, isThere } = await create();
    await agent.call('ADD', { id: 'c1' });
    const answer = async (ok: boolean): Promise<void> =>
      ok ? Promise.reject(new Error('the plugin is gone')) : Promise.resolve();
    await agent.call('ADD', { id: 'c2', answer });
    expect([agent.context.endpoints.size, isThere()]).toEqual([1, true]);
    await agent.call('DEL', { id: 'c1' });
    expect(isThere()).toBe(false);
  });

  test('is made once by ADDs that run side by side', async () => {
    const { agent, isThere } = await create();
    const ids = ['c1', 'c2', 'c3', 'c4'];
    const answers = await Promise.all(ids.map((id) => agent.call('ADD', { id })));
    expect(answers.map(({ ok }) => ok)).toEqual([true, true, true, true]);
    await Promise.all(ids.map((id) => agent.call('DEL', { id })));
    expect(isThere()).toBe(false);
  });

  test('fails the ADD that wants it differently, and leaves the other endpoint alone', async () => {
    const { agent, listDestinations } = await create((id) => (id === 'c1' ? 1400 : 1500));
    await agent.call('ADD', { id: 'c1' });
    const before = listDestinations();
    const { ok, json } = await agent.call('ADD', { id: 'c2' });
    expect([ok, json.msg]).toEqual([false, expect.stringContaining('PLAN_CONFLICT: route 198.18.0.0/24')]);
    expect(listDestinations()).toEqual(before);
    await agent.call('DEL', { id: 'c1' });
    expect((await agent.call('ADD', { id: 'c2' })).ok).toBe(true);
  });
});

describe('scopes of a model', () => {
  test('are planned for the node and for each peer that publishes its fact, and go with the peer', async () => {
    const cluster = createTestCluster();
    const one = await startNode(cluster, 'n1');
    expect(tethersOn(one)).toEqual(['n1']);
    const two = await startNode(cluster, 'n2');
    await until(() => tethersOn(one).length === 2 && tethersOn(two).length === 2);
    expect(tethersOn(one)).toEqual(['n1', 'n2']);
    await two.stop();
    await cluster.store.delete(keys.node('n2'));
    await until(() => tethersOn(one).length === 1);
    expect(one.engine.violations).toEqual([]);
  });

  test('are not touched by an agent that starts while the store is away', async () => {
    const cluster = createTestCluster();
    const one = await startNode(cluster, 'n1');
    const two = await startNode(cluster, 'n2');
    await until(() => tethersOn(one).length === 2);
    await Promise.all([one.stop(), two.stop()]);
    const after = one.again({ cut: true });
    let missing = 0;
    after.engine.between = () => {
      if (tethersOn(after).length < 2) missing++;
    };
    await after.start();
    await after.reconciler.run();
    expect(tethersOn(after)).toEqual(['n1', 'n2']);
    expect(missing).toBe(0);
  });

  test('that cannot be planned are named in the status, and the others are there', async () => {
    const cluster = createTestCluster();
    const one = await startNode(cluster, 'n1');
    await startNode(cluster, 'n2', () => 'none');
    await startNode(cluster, 'n3');
    await until(() => tethersOn(one).length === 2);
    await until(() => describeScopeProblems(one.context.desired).length === 1);
    expect(tethersOn(one)).toEqual(['n1', 'n3']);
    expect(describeScopeProblems(one.context.desired)).toEqual([
      'PLAN_FAILED: tether:n2: n2 publishes no prefix',
    ]);
  });

  test('are published as they are once they are in force, and stay so over a restart', async () => {
    const cluster = createTestCluster();
    const stating: NetworkModel = {
      ...createModel(tetherOf),
      publish: ({ name }, { stateOf, before }) => {
        const states = ['n1', 'n2'].flatMap((id) => {
          const state = stateOf(`tether/${id}`);
          const text = state === 'pending' ? before[id] : JSON.stringify(state);
          return text === undefined ? [] : [[id, text] as const];
        });
        return { ...Object.fromEntries(states), tether: tetherOf(name) };
      },
    };
    const node = cluster.node('n1', { dependencies: { models: indexModels([stating]) } });
    await node.start();
    await startNode(cluster, 'n2', () => 'none');
    const read = () => cluster.store.get(keys.node('n1'));
    const problem = 'n2 publishes no prefix';
    const states = { n1: '"in-force"', n2: JSON.stringify({ problem }) };
    await until(async () => (await read())!.value.includes(problem));
    const before = await read();
    expect(JSON.parse(before!.value)).toMatchObject({ value: { facts: { routed: states } } });
    await node.stop();
    const after = node.again();
    await after.start();
    await until(() => after.member.registration.state.kind === 'registered');
    await after.reconciler.run();
    expect((await read())?.revision).toBe(before?.revision);
  });

  test('are repaired by a reconcile of a node without a cluster', async () => {
    const models = indexModels([createModel(tetherOf)]);
    const agent = await createReadyHarness({ dependencies: { models } });
    expect(tethersOn(agent)).toEqual(['node1']);
    const [identity] = [...agent.engine.present].find(
      ([, { resource }]) => resource.kind === 'route' && resource.destination === tetherOf('node1'),
    )!;
    agent.engine.present.delete(identity);
    await agent.reconciler.run();
    expect(tethersOn(agent)).toEqual(['node1']);
  });
});
