/** Pools that change under live pods of three nodes: deleted past all rules, disabled, split, migrated. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { containsAddress, parseAddress, parsePrefix } from '@podwire/addresses';
import { poolKind } from '@podwire/cluster-state';
import { encodeObject } from '@podwire/store';
import { eventually } from '@podwire/testkit';
import {
  assertConverged,
  type Cluster,
  createCluster,
  startTraffic,
  untilReported,
} from './support/cluster.js';
import type { ClusterNode, Pod } from './support/node.js';
import { keys, readStore } from './support/store-view.js';

const lies = ({ addresses }: Pod, cidr: string): boolean =>
  addresses.some((address) => containsAddress(parsePrefix(cidr), parseAddress(address)));

describe('pools that change', { timeout: 180_000 }, () => {
  let cluster: Cluster;
  const [first, second] = ['10.244.0.0/20', '10.245.0.0/20'];
  before(async () => {
    cluster = await createCluster({
      ...{ name: 'pools', nodes: 3 },
      pools: [{ name: 'first', cidr: first, encapsulation: 'vxlan' }],
    });
  });
  after(async () => cluster?.close());

  const addOnAll = async (count: number): Promise<Pod[]> => {
    const pods: Pod[] = [];
    for (const node of cluster.nodes) for (let each = 0; each < count; each++) pods.push(await node.add());
    return pods;
  };

  test('deleted by force while it is in use: pods go on, new ones are refused, and it heals', async () => {
    const traffic = await startTraffic(await addOnAll(1));
    const { pools } = await readStore(cluster.etcd);
    const pool = pools.get('first')!.value;
    const refused = await cluster.podwire('pool', 'delete', 'first');
    assert.notEqual(refused.code, 0);
    assert.match(refused.stderr, /POOL_IN_USE/);
    await cluster.etcd.control(['del', keys.pool('first')]);
    for (const node of cluster.nodes) {
      await eventually(`${node.name} says so`, async () => {
        const { problems } = (await node.status()).cluster;
        return problems.some((text) => /^POOL_UNKNOWN: .*first/.test(text)) || problems.join('\n');
      });
      await eventually(`${node.name} hands nothing out`, async () => {
        const pod = await node.tryAdd();
        if (typeof pod === 'string') return pod.startsWith('POOL_EXHAUSTED: ') || pod;
        await node.del(pod);
        return false;
      });
    }
    await cluster.etcd.control(['put', keys.pool('first'), encodeObject(poolKind, pool)]);
    for (const node of cluster.nodes) {
      await eventually(`${node.name} is well`, async () => {
        const pod = await node.tryAdd();
        if (typeof pod === 'string') return pod;
        await node.del(pod);
        return true;
      });
    }
    await assertConverged(cluster, cluster.nodes);
    await traffic.end();
  });

  test('disabled: pods go on, DEL works, new ones are refused until it is enabled', async () => {
    const [one] = cluster.nodes as [ClusterNode];
    const traffic = await startTraffic(cluster.nodes.map((node) => [...node.pods][0]!));
    const extra = await one.add();
    await cluster.putPool({ name: 'first', cidr: first, encapsulation: 'vxlan', disabled: true });
    await eventually('n1 hands nothing out', async () => {
      const pod = await one.tryAdd();
      if (typeof pod === 'string') return pod.startsWith('POOL_EXHAUSTED: ') || pod;
      await one.del(pod);
      return false;
    });
    await one.del(extra);
    await cluster.putPool({ name: 'first', cidr: first, encapsulation: 'vxlan' });
    await eventually('n1 hands out again', async () => typeof (await one.tryAdd()) !== 'string');
    await assertConverged(cluster, cluster.nodes);
    await traffic.end();
  });

  test('split and migrated: pods are made again one by one, no address is used twice, the old pools are gone', async () => {
    await addOnAll(4);
    for (const node of cluster.nodes) await untilReported(node);
    const split = await cluster.podwire('ipam', 'split', 'first', '2');
    assert.equal(split.code, 0, split.stderr);
    await addOnAll(2);
    await assertConverged(cluster, cluster.nodes);

    await cluster.putPool({ name: 'second', cidr: second, encapsulation: 'vxlan' });
    for (const part of ['first-1', 'first-2']) {
      const moved = await cluster.podwire('ipam', 'migrate', part, 'second');
      assert.equal(moved.code, 0, moved.stderr);
    }
    const stays: Pod[] = [];
    for (const node of cluster.nodes) {
      await eventually(`${node.name} takes addresses of the second pool`, async () => {
        const pod = await node.tryAdd();
        if (typeof pod === 'string') return pod;
        if (lies(pod, second)) return stays.push(pod) > 0;
        await node.del(pod);
        return false;
      });
    }
    const traffic = await startTraffic(stays);
    const migrations = ['first-1', 'first-2'].map((part) =>
      cluster.podwire('ipam', 'migrate', part, 'second', '--wait'),
    );
    for (const node of cluster.nodes) {
      for (const pod of [...node.pods].filter((each) => lies(each, first))) {
        await node.del(pod);
        assert.ok(lies(await node.add(), second));
      }
    }
    for (const migration of migrations) {
      const { code, stderr } = await migration;
      assert.equal(code, 0, stderr);
    }
    const { pools, blocks } = await readStore(cluster.etcd);
    assert.deepEqual([...pools.keys()], ['second']);
    assert.ok([...blocks.keys()].every((cidr) => cidr.startsWith('10.245.')));
    await assertConverged(cluster, cluster.nodes);
    await traffic.end();
    for (const node of cluster.nodes) {
      await eventually('nothing leads to the old pool', async () => {
        const routes = await node.host.run(['ip', 'route', 'show', 'table', 'all']);
        return !routes.includes('10.244.') || routes;
      });
    }
  });
});
