/** etcd answers, and says no: wrong credentials, rights that are taken, no room. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { eventually } from '@podwire/testkit';
import { startChurn } from './support/churn.js';
import { assertConverged, type Cluster, createCluster, startTraffic } from './support/cluster.js';
import type { ClusterNode, NodeCalls, Pod } from './support/node.js';

async function untilSays(node: NodeCalls, code: string): Promise<void> {
  await eventually(`${node.name} says ${code}`, async () => {
    const { problem, cluster } = await node.status();
    return JSON.stringify([problem, cluster.problems]).includes(code) || JSON.stringify([problem, cluster]);
  });
}

describe('credentials', { timeout: 120_000 }, () => {
  let cluster: Cluster;
  before(async () => {
    cluster = await createCluster({
      name: 'denied',
      nodes: 2,
      hosts: 3,
      etcd: { auth: true },
      pools: [{ name: 'v4', cidr: '10.244.0.0/20', blockSize: 28 }],
      cluster: (node, { directory }, store) => {
        const passwordFile = path.join(directory, 'password');
        fs.writeFileSync(passwordFile, node === 'n3' ? 'wrong' : 'test-password', { mode: 0o600 });
        return { store: { ...store, passwordFile } };
      },
    });
  });
  after(async () => cluster?.close());

  test('taken away at run time: it is said, pods come and go; given back: all goes on', async () => {
    const traffic = await startTraffic(await Promise.all(cluster.nodes.map((node) => node.add())));
    const churns = cluster.nodes.map((node) => startChurn(node));
    const more = async (count: number) => void (await Promise.all(churns.map((churn) => churn.more(count))));
    await more(3);
    await cluster.etcd.control(['user', 'revoke-role', 'podwire', 'all']);
    for (const node of cluster.nodes) await untilSays(node, 'STORE_DENIED');
    await more(10);
    await cluster.etcd.control(['user', 'grant-role', 'podwire', 'all']);
    await more(3);
    for (const churn of churns) await churn.stop();
    await assertConverged(cluster, cluster.nodes);
    await traffic.end();
    for (const node of cluster.nodes)
      await eventually('nothing is wrong any more', async () => {
        const { problems } = (await node.status()).cluster;
        return problems.length === 0 || problems.join('\n');
      });
  });

  test('wrong at the start: it is said, and the right password is taken without a new start', async () => {
    await assert.rejects(cluster.startNode('n3', 2, 8_000), /STORE_DENIED/);
    const node = cluster.callsOf('n3', 2);
    await untilSays(node, 'STORE_DENIED');
    const refused = await node.refusal();
    assert.match(refused, /^AGENT_NOT_READY: .*STORE_DENIED/);
    fs.writeFileSync(path.join(node.host.directory, 'password'), 'test-password');
    await eventually('n3 serves', async () => (await node.status()).ready);
    await node.add();
    await assertConverged(cluster, [...cluster.nodes, node]);
  });
});

describe('no room', { timeout: 120_000 }, () => {
  let cluster: Cluster;
  before(async () => {
    cluster = await createCluster({
      name: 'full',
      nodes: 2,
      etcd: { quotaBytes: 2 * 1024 * 1024 },
      pools: [{ name: 'v4', cidr: '10.244.0.0/20' }],
    });
  });
  after(async () => cluster?.close());

  /** Until it refuses. */
  async function fill(): Promise<number> {
    const value = 'x'.repeat(100_000);
    for (let count = 0; count < 100; count++) {
      try {
        await cluster.etcd.control(['put', `/fill/${count}`, value]);
      } catch (error) {
        assert.match(String(error), /database space exceeded/);
        return count + 1;
      }
    }
    throw new Error('it does not become full');
  }

  test('pods come and go in blocks that a node has; a claim says that the store is full; with room all goes on', async () => {
    const [one, two] = cluster.nodes as [ClusterNode, ClusterNode];
    const traffic = await startTraffic([await one.add(), await two.add()]);
    const filled = await fill();
    const pods: Pod[] = [];
    let refusal = '';
    while (refusal === '') {
      const pod = await one.tryAdd();
      if (typeof pod === 'string') refusal = pod;
      else pods.push(pod);
      assert.ok(pods.length < 100);
    }
    // Its block, and not one address more; the first address of a pool is not allocated.
    const { holdings } = (await one.status()).cluster;
    assert.match(refusal, /^STORE_FULL: /);
    const all = holdings.reduce((sum, { cidr }) => sum + (cidr === '10.244.0.0/29' ? 7 : 8), 0);
    assert.equal(pods.length + 1, all);
    await one.del(pods.pop()!);
    pods.push(await one.add());
    const there = await two.add();
    await two.del(there);

    for (let count = 0; count < filled; count++) await cluster.etcd.control(['del', `/fill/${count}`]);
    await cluster.etcd.compact();
    await cluster.etcd.control(['defrag']);
    await cluster.etcd.control(['alarm', 'disarm']);
    for (let count = 0; count < 8; count++) pods.push(await one.add());
    await assertConverged(cluster, cluster.nodes);
    await traffic.end();
  });
});
