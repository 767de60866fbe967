/** A model with scopes and published facts of its own, on the nodes of a cluster. */
import type { NetworkModel } from '@podwire/network-contract';
import { describe, expect, test } from 'vitest';
import { indexModels, networkModels } from '../../src/models.js';
import { describeScopeProblems } from '../../src/node/model-scopes.js';
import { createTestCluster, keys, type TestCluster, type TestNode, until } from '../fakes/cluster.js';
import { createReadyHarness, type Harness } from '../fakes/harness.js';
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
