import { describe, expect, test } from 'vitest';
import { readCluster, showAddress, showCluster, showNodes } from '../../src/operations/index.js';
import { createTestCluster, type TestCluster } from './cluster.js';

async function createCluster(): Promise<TestCluster> {
  const cluster = createTestCluster();
  const { pool, node, block, record, absence, importedBlock, workload } = cluster;
  await pool({ cidr: '10.244.0.0/16', reserved: ['10.244.0.0/30', '10.244.0.2/31', '10.244.0.9'] });
  await pool({ name: 'six', cidr: 'fd00::/64' });
  await node('n1');
  await node('n2', { present: false });
  await absence('n2', { since: 5 });
  await block('10.244.0.0/26', 'n1', { loans: [{ address: '10.244.0.33', node: 'n2' }] });
  await block('10.244.0.64/26', 'n1');
  await importedBlock('10.244.0.128/26', 'old');
  await block('fd00::40/122', 'n2');
  await record('10.244.0.0/26', 'n1', ['10.244.0.9=default/a', '10.244.0.10']);
  await record('10.244.0.0/26', 'n2', ['10.244.0.33=default/b']);
  await record('fd00::40/122', 'n2', ['fd00::41=default/b']);
  await record('172.20.0.0/26', 'n2', ['172.20.0.1']);
  await workload('web', { sticky: true, assigned: { web: ['10.244.0.60'] } });
  return cluster;
}

describe('pools', () => {
  test('have numbers that add up', async () => {
    const { access, signal } = await createCluster();
    const { pools, outside } = showCluster(await readCluster(access, signal));
    expect(pools.map(({ name }) => name)).toEqual(['main', 'six']);
    // Reserved are .0-.3 and the last address of the pool; .9 is in use all the same, and counts once.
    expect(pools[0]).toMatchObject({ total: '65536', inUse: 3, reserved: '5', free: '65528', lent: 1 });
    expect(pools[1]).toMatchObject({ total: '18446744073709551616', inUse: 1, reserved: '1' });
    for (const { total, inUse, reserved, free } of pools) {
      expect(BigInt(reserved) + BigInt(free) + BigInt(inUse)).toBe(BigInt(total));
    }
    expect(outside).toBe(1);
  });

  test('have blocks in order of addresses', async () => {
    const { access, signal } = await createCluster();
    const { pools } = showCluster(await readCluster(access, signal));
    expect(pools[0]?.blocks).toEqual([
      { cidr: '10.244.0.0/26', node: 'n1', state: 'confirmed', size: 64, inUse: 3, lent: 1 },
      { cidr: '10.244.0.64/26', node: 'n1', state: 'confirmed', size: 64, inUse: 0, lent: 0 },
      { cidr: '10.244.0.128/26', node: 'old', state: 'confirmed', size: 64, inUse: 0, lent: 0 },
    ]);
  });

  test('and their borrowed addresses', async () => {
    const { access, signal } = await createCluster();
    expect(showCluster(await readCluster(access, signal)).loans).toEqual([
      {
        address: '10.244.0.33',
        block: '10.244.0.0/26',
        pool: 'main',
        owner: 'n1',
        borrower: 'n2',
        pod: 'default/b',
      },
    ]);
  });
});

describe('an address', () => {
  test.each([
    [
      '10.244.0.9',
      { state: 'in-use', pool: 'main', network: 'default', block: '10.244.0.0/26', blockOwner: 'n1' },
    ],
    ['10.244.0.33', { state: 'in-use', borrower: 'n2', uses: [{ pod: 'default/b', node: 'n2' }] }],
    ['10.244.0.1', { state: 'reserved', uses: [] }],
    ['10.244.255.255', { state: 'reserved', uses: [] }],
    ['10.244.0.60', { state: 'free', keptFor: 'default/web' }],
    ['10.244.99.1', { state: 'free', uses: [] }],
    ['172.20.0.1', { state: 'in-use', uses: [{ node: 'n2' }] }],
    ['172.20.0.9', { state: 'outside' }],
    ['FD00:0::41', { address: 'fd00::41', state: 'in-use', pool: 'six' }],
  ])('%s', async (address, expected) => {
    const { access, signal } = await createCluster();
    expect(showAddress(await readCluster(access, signal), address)).toMatchObject(expected);
  });
});

test('nodes, also those that are known by their blocks alone', async () => {
  const { access, signal, clock } = await createCluster();
  const nodes = showNodes(await readCluster(access, signal));
  expect(nodes.map(({ name, state, since, inUse }) => [name, state, since, inUse])).toEqual([
    ['n1', 'ready', clock.now(), 2],
    ['n2', 'unreachable', 5, 3],
    ['old', 'unregistered', undefined, 0],
  ]);
  expect(nodes[0]?.blocks).toEqual(['10.244.0.0/26', '10.244.0.64/26']);
  expect(nodes[1]?.borrowed).toEqual(['10.244.0.33']);
});
