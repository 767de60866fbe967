/** Wall clocks of nodes jump a day forward and back: no node counts as vanished, and no address is given twice. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { eventually } from '@podwire/testkit';
import { whileChurning } from './support/churn.js';
import { assertConverged, createCluster } from './support/cluster.js';
import type { ClusterNode } from './support/node.js';
import { keys, readStore, watchStore } from './support/store-view.js';

const day = 24 * 3_600_000;

function setWall({ host, agent }: ClusterNode, ahead: number): void {
  fs.writeFileSync(path.join(host.directory, 'faults/wall'), String(ahead));
  process.kill(agent.pid, 'SIGUSR2');
}

test('wall clocks jump a day', { timeout: 120_000 }, async (t) => {
  const cluster = await createCluster({
    ...{ name: 'clocks', nodes: 3 },
    pools: [{ name: 'v4', cidr: '10.244.0.0/20', blockSize: 27 }],
    // n1 leads, or no node does.
    cluster: (node) => ({ vanishAfter: '60s', controller: node === 'n1' }),
  });
  t.after(() => cluster.close());
  const [one, two, three] = cluster.nodes as [ClusterNode, ClusterNode, ClusterNode];
  await whileChurning(cluster.nodes, (more) => more(3));

  await t.test('one forward, one back: both are served at once, and no node is absent', async () => {
    const watch = await watchStore(cluster.etcd, cluster.hosts.middle);
    for (const [first, second] of [
      [day, -day],
      [-day, day],
      [0, 0],
    ] as const) {
      setWall(one, first);
      setWall(two, second);
      for (const [node, ahead] of [
        [one, first],
        [two, second],
      ] as const) {
        // The first ADD may find that the node was not confirmed for a day, and makes it ask.
        await eventually(`${node.name} serves`, async () => {
          const pod = await node.tryAdd();
          if (typeof pod === 'string') return pod;
          const { confirmedAt } = (await node.status()).cluster;
          // By its own wall: the jump has come to the agent.
          return (
            ahead <= 0 || Date.parse(confirmedAt!) > Date.now() + day / 2 || `confirmed at ${confirmedAt}`
          );
        });
      }
      await whileChurning(cluster.nodes, (more) => more(5));
    }
    await watch.stop();
    const absences = watch.changes().filter(({ key }) => key.startsWith(keys.unreachable('')));
    assert.deepEqual(
      absences.filter(({ value }) => value !== undefined),
      [],
    );
    await assertConverged(cluster, cluster.nodes);
  });

  await t.test('the leader’s jumps while a node is absent: it is not released early', async () => {
    const observed = async (): Promise<number> => {
      const absence = (await readStore(cluster.etcd)).unreachable.get('n3');
      return absence?.value.observed ?? -1;
    };
    await three.agent.kill9();
    await eventually('its absence is noted', async () => (await observed()) >= 0);
    for (const ahead of [day, -day, day]) {
      const before = await observed();
      setWall(one, ahead);
      await eventually('the leader has looked at it again', async () => (await observed()) > before);
    }
    const { nodes, blocks } = await readStore(cluster.etcd);
    assert.ok(nodes.has('n3'));
    assert.ok([...blocks.values()].some(({ value }) => value.node === 'n3'));
    setWall(one, 0);
    await three.agent.start();
    await eventually(
      'its absence is over',
      async () => !(await readStore(cluster.etcd)).unreachable.has('n3'),
    );
    await assertConverged(cluster, cluster.nodes);
  });
});
