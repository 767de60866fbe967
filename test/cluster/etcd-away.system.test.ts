/** etcd is killed, frozen, compacted: three nodes go on with pods and traffic, and everything is told afterwards. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { blockKind } from '@podwire/cluster-state';
import { encodeObject } from '@podwire/store';
import { eventually } from '@podwire/testkit';
import { whileChurning } from './support/churn.js';
import { assertConverged, type Cluster, createCluster, startTraffic } from './support/cluster.js';
import { untilReaches } from './support/node.js';
import { keys, readStore } from './support/store-view.js';

describe('three nodes with one etcd', { timeout: 120_000 }, () => {
  let cluster: Cluster;
  before(async () => {
    cluster = await createCluster({
      name: 'away',
      nodes: 3,
      pools: [
        { name: 'v4', cidr: '10.244.0.0/20', blockSize: 27, encapsulation: 'vxlan' },
        { name: 'v6', cidr: 'fd00:244::/108' },
      ],
    });
  });
  after(async () => cluster?.close());

  const untilAway = async (): Promise<void> => {
    for (const node of cluster.nodes)
      await eventually(`${node.name} knows`, async () => !(await node.status()).cluster.store.connected);
  };

  for (const fault of ['killed', 'frozen'] as const) {
    test(`etcd is ${fault}, and comes back: pods come and go, no packet is lost, all is reported`, async () => {
      const [etcd] = cluster.etcd.members;
      const pods = await Promise.all(cluster.nodes.map((node) => node.add()));
      const traffic = await startTraffic(pods);
      await whileChurning(cluster.nodes, async (more) => {
        await more(5);
        if (fault === 'killed') await etcd!.kill9();
        else etcd!.freeze();
        await more(20);
        await untilAway();
        await more(20);
        if (fault === 'killed') await etcd!.start();
        else etcd!.thaw();
        await more(5);
      });
      await assertConverged(cluster, cluster.nodes);
      const answers = await traffic.end();
      assert.ok(answers > 100, `${answers} answers`);
      for (const node of cluster.nodes) for (const pod of node.pods) await node.del(pod);
      await assertConverged(cluster, cluster.nodes);
    });
  }

  test('compacted while a node is cut off: it catches up, and sees a node gone and a block moved', async () => {
    const [one, two, three] = cluster.nodes as [
      (typeof cluster.nodes)[0],
      (typeof cluster.nodes)[0],
      (typeof cluster.nodes)[0],
    ];
    const pod = await two.add();
    await untilReaches(one.host.namespace, pod);
    await one.host.cut();
    await eventually('n1 knows', async () => !(await one.status()).cluster.store.connected);
    // Meanwhile n3 goes, and a block of it becomes another node's.
    await three.agent.stop();
    assert.equal((await cluster.podwire('nodes', 'forget', 'n3', '--yes')).code, 0);
    const { nodes, revision } = await readStore(cluster.etcd);
    const node = nodes.get('n3');
    assert.equal(node, undefined);
    const moved = '10.244.15.224/27';
    const owner = nodes.get('n2')!.value;
    const block = {
      ...{ cidr: moved, node: 'n2', instance: owner.instance, state: 'confirmed' as const },
      ...{ claimedAt: Date.now(), loans: [] },
    };
    await cluster.etcd.control(['put', keys.block(moved), encodeObject(blockKind, block)]);
    for (let count = 0; count < 20; count++) await two.del(await two.add());
    await cluster.etcd.compact();
    assert.ok((await readStore(cluster.etcd)).revision > revision);
    await one.host.restore();
    await eventually('n1 has forgotten n3', async () => {
      const { peers, store } = (await one.status()).cluster;
      return (store.connected && peers.count === 1) || JSON.stringify(peers);
    });
    await eventually('n1 routes the moved block to n2', async () =>
      (await one.host.run(['ip', 'route', 'show', 'table', 'all'])).includes(moved),
    );
    await untilReaches(one.host.namespace, pod);
    await two.del(pod);
    await three.agent.start();
    await eventually('n1 knows n3 again', async () => (await one.status()).cluster.peers.count === 2);
    const fresh = await three.add();
    await untilReaches(one.host.namespace, fresh);
    await assertConverged(cluster, cluster.nodes);
  });
});
