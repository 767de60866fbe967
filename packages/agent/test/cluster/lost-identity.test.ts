import { type Node, nodeKind } from '@podwire/cluster-state';
import { PodwireError } from '@podwire/errors';
import { decodeObject } from '@podwire/store';
import { describe, expect, test } from 'vitest';
import { createTestCluster, fakeOf, keys, type TestCluster, type TestNode, until } from '../fakes/cluster.js';
import { createFakeAddressing } from '../fakes/fake-addressing.js';

async function createCluster(): Promise<TestCluster> {
  const cluster = createTestCluster(createFakeAddressing);
  await cluster.putPool({ name: 'v4', cidr: '10.244.0.0/16', encapsulation: 'vxlan' });
  await cluster.putPool({ name: 'v6', cidr: 'fd00:244::/116', encapsulation: 'vxlan' });
  return cluster;
}

async function nodeObject(cluster: TestCluster): Promise<Node | undefined> {
  const item = await cluster.store.get(keys.node('n1'));
  return item && decodeObject(nodeKind, item.key, item.value);
}

describe('a node that has lost node.json', () => {
  /** One that has no block either, so that it must wait for an address. */
  async function lose(cluster: TestCluster): Promise<TestNode> {
    const node = cluster.node('n1');
    await node.start();
    await until(async () => (await nodeObject(cluster))?.tunnel?.ipv6);
    await node.stop();
    for (const { cidr } of node.addressing.affinities()) await cluster.store.delete(keys.block(cidr));
    node.files.texts.delete('node.json');
    return node.again();
  }

  test('is registered once, with its end of tunnels', async () => {
    const cluster = await createCluster();
    const node = await lose(cluster);
    const tunnels: (string | undefined)[] = [];
    const over = new AbortController();
    const watching = (async () => {
      for await (const batch of cluster.store.watch(keys.node('n1'), { signal: over.signal })) {
        const items =
          batch.type === 'snapshot'
            ? []
            : batch.changes.flatMap((one) => (one.type === 'put' ? one.item : []));
        for (const { key, value } of items) tunnels.push(decodeObject(nodeKind, key, value).tunnel?.ipv6);
      }
    })();
    await node.start();
    await until(() => tunnels.some((tunnel) => tunnel !== undefined));
    over.abort();
    await watching;
    expect(tunnels).toHaveLength(1);
    expect((await nodeObject(cluster))?.instance).toBe(node.member.identity.instance);
  });

  test('is registered without, where there is no address for it', async () => {
    const cluster = await createCluster();
    const node = await lose(cluster);
    fakeOf(node).provide = () => Promise.reject(new PodwireError('POOL_EXHAUSTED', 'all is taken'));
    await node.start();
    const { instance } = node.member.identity;
    await until(async () => (await nodeObject(cluster))?.instance === instance);
    expect((await nodeObject(cluster))?.tunnel).toBeUndefined();
  });
});
