/** Agents and etcd die together, and the agents start while the store is away: what an owner has lent stays the borrower's. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { assertConverged, type Cluster, createCluster } from './support/cluster.js';
import type { ClusterNode } from './support/node.js';
import { readStore } from './support/store-view.js';

describe('two blocks for three nodes', { timeout: 150_000 }, () => {
  let cluster: Cluster;
  let owners: readonly ClusterNode[];
  let borrower: ClusterNode;
  before(async () => {
    cluster = await createCluster({
      ...{ name: 'lent-re', nodes: 2, hosts: 3 },
      pools: [{ name: 'v4', cidr: '10.244.0.0/27', blockSize: 28, borrowing: true, maxBlocksPerNode: 1 }],
    });
    owners = cluster.nodes;
    borrower = await cluster.startNode('n3', 2);
  });
  after(async () => cluster?.close());

  const all = (): readonly ClusterNode[] => [...owners, borrower];
  const loans = async (): Promise<string[]> =>
    [...(await readStore(cluster.etcd)).blocks.values()].flatMap(({ value }) =>
      value.loans.map(({ address }) => address),
    );

  /** `kill -9` of everything that still runs; the agents start while etcd is away, and all of them make pods. */
  async function restartWithoutStore(): Promise<void> {
    const [etcd] = cluster.etcd.members;
    await etcd!.kill9();
    try {
      await Promise.all(all().map((node) => node.agent.kill9()));
      await Promise.all(all().map((node) => node.agent.start()));
      for (const node of all()) {
        await node.undoUnanswered();
        assert.equal((await node.status()).cluster.store.connected, false);
      }
      for (let round = 0; round < 3; round++) for (const node of all()) await node.tryAdd();
      assert.deepEqual(cluster.journal.doubled(), []);
    } finally {
      await etcd!.start();
    }
    await assertConverged(cluster, all());
  }

  /** Room for the next case: of each node two pods stay, which have been there since before. */
  async function shrink(): Promise<void> {
    for (const node of all()) for (const pod of [...node.pods].slice(2)) await node.del(pod);
    await assertConverged(cluster, all());
  }

  test('all is killed, and agents start without the store: no owner hands out what it has lent', async () => {
    for (let count = 0; count < 4; count++) await borrower.add();
    assert.equal((await loans()).length, 4);
    for (const node of owners) await node.add();
    await restartWithoutStore();
  });

  for (const point of ['saved-state:written', 'grant:written']) {
    test(`an owner is killed at ${point}, then all is, and agents start without the store`, async () => {
      await shrink();
      for (const node of owners) node.faults.inject({ point, skip: 0, signal: 'SIGKILL' });
      const isPending = (): boolean => owners.every(({ faults }) => faults.isPending());
      for (let count = 0; count < 6 && isPending(); count++) await borrower.tryAdd();
      assert.ok(!isPending(), `${point} is reached`);
      for (const { faults, agent } of owners) if (!faults.isPending()) await agent.exited();
      for (const { faults } of owners) faults.clear();
      await restartWithoutStore();
    });
  }
});
