/** Addresses in the pools that other nodes and the store use: no pod of this node gets them. */
import { type Node, nodeKind } from '@podwire/cluster-state';
import { encodeObject } from '@podwire/store';
import { expect, test } from 'vitest';
import { createTestCluster, keys, type TestCluster, until } from '../fakes/cluster.js';

const nodeObject = (name: string, ipv4: string): Node => ({
  name,
  instance: 'i',
  version: '0',
  labels: {},
  addresses: { ipv4 },
  mtu: 1500,
  registeredAt: 1,
});
const putNode = (cluster: TestCluster, name: string, ipv4: string): Promise<number> =>
  cluster.store.put(keys.node(name), encodeObject(nodeKind, nodeObject(name, ipv4)));

/** Two blocks of four addresses; the first and the last one of a pool are nothing for pods. */
const pool = { name: 'v4', cidr: '10.244.0.0/29', blockSize: 30 };

test('no block is claimed around a node or a server of the store, and their addresses are refused by name', async () => {
  const cluster = createTestCluster();
  await cluster.putPool({ ...pool, cidr: '10.244.0.0/28' });
  await putNode(cluster, 'n9', '10.244.0.5/24');
  const node = cluster.node('n1', { storeAddresses: ['10.244.0.9'] });
  await node.start();
  const given: string[] = [];
  for (let count = 0; count < 6; count++) {
    const { ok, json } = await node.call('ADD', { id: `c${count}` });
    if (ok) given.push((json['ips'] as { address: string }[])[0]!.address);
  }
  expect(given.sort()).toEqual(['1', '12', '13', '14', '2', '3'].map((last) => `10.244.0.${last}/32`));
  for (const [address, why] of [
    ['10.244.0.5', 'is the address of node n9'],
    ['10.244.0.9', 'is an address of the store'],
  ]) {
    const { ok, json } = await node.call('ADD', {
      id: 'asks',
      config: { runtimeConfig: { ips: [address] } },
    });
    expect(ok).toBe(false);
    expect(json.msg).toContain(`${address} ${why}`);
  }
  expect(node.context.node.problems().join()).toMatch(/pool v4.*10\.244\.0\.5 is the address of node n9/);
});

test('a node that joins with an address of a pod is reported, and gone again when it goes', async () => {
  const cluster = createTestCluster();
  await cluster.putPool(pool);
  const node = cluster.node('n1');
  await node.start();
  const { json } = await node.call('ADD', { id: 'c1' });
  const [{ address }] = json['ips'] as [{ address: string }];
  await putNode(cluster, 'n9', address.replace('/32', '/24'));
  await until(() => node.context.node.problems().join().includes('ADDRESS_IN_USE'));
  await cluster.store.delete(keys.node('n9'));
  await until(() => node.context.node.problems().length === 0);
});
