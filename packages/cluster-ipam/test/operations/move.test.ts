import { describe, expect, test } from 'vitest';
import {
  checkCluster,
  createPool,
  deleteWorkload,
  migratePool,
  type Migration,
  parseWorkloadName,
  readCluster,
  setWorkload,
  splitPool,
} from '../../src/operations/index.js';
import { createTestCluster, failureOf, type TestCluster } from './cluster.js';

async function createCluster(limits = {}): Promise<TestCluster> {
  const cluster = createTestCluster(limits);
  const { pool, node, block, record } = cluster;
  await pool({
    name: 'old',
    cidr: '10.244.0.0/16',
    natOutgoing: false,
    reserved: ['10.244.200.0/24', '10.244.1.1'],
  });
  await node('n1');
  await block('10.244.0.0/26', 'n1');
  await block('10.244.128.0/26', 'n1');
  await record('10.244.0.0/26', 'n1', ['10.244.0.5=default/a']);
  return cluster;
}

const network = { network: 'default', namespace: 'default' } as const;

describe('a split', () => {
  test('gives parts with the same settings; blocks and pods stay', async () => {
    const { access, signal, workload } = await createCluster();
    await workload('web', { pools: ['old'] });
    const parts = await splitPool(access, 'old', 4, signal);
    expect(parts.map(({ name, cidr, reserved }) => [name, cidr, reserved])).toEqual([
      ['old-1', '10.244.0.0/18', ['10.244.1.1']],
      ['old-2', '10.244.64.0/18', []],
      ['old-3', '10.244.128.0/18', []],
      ['old-4', '10.244.192.0/18', ['10.244.200.0/24']],
    ]);
    expect(parts.every(({ natOutgoing, blockSize }) => !natOutgoing && blockSize === 26)).toBe(true);
    const { pools, blocks, workloads } = await readCluster(access, signal);
    expect([...pools.keys()]).toEqual(['old-1', 'old-2', 'old-3', 'old-4']);
    expect(blocks.size).toBe(2);
    expect(workloads[0]?.value.pools).toEqual(['old-1', 'old-2', 'old-3', 'old-4']);
    expect((await checkCluster(access, {}, signal)).problems).toEqual([]);
  });

  test('ends claims that were decided before', async () => {
    const { access, signal, store, keys } = await createCluster();
    const pool = (await readCluster(access, signal)).pools.get('old')!;
    await splitPool(access, 'old', 2, signal);
    const claim = await store.transact({
      conditions: [{ key: pool.key, expect: pool.revision }],
      writes: [{ op: 'put', key: keys.block('10.244.2.0/26'), value: '{}' }],
    });
    expect(claim.committed).toBe(false);
  });

  test.each([
    [3, /into: 3 is no power of two/],
    [1, /into: 1 is no power of two/],
    [2048, /into: 2048 is no power of two/],
    [256, /reserved: 10.244.200.0\/24 leaves nothing of the part 10.244.200.0\/24/],
  ])('into %i is refused', async (into, message) => {
    const { access, signal } = await createCluster();
    const failure = await failureOf(splitPool(access, 'old', into, signal));
    expect(failure).toMatchObject({ code: 'POOL_INVALID' });
    expect(failure.message).toMatch(message);
  });

  test('below the size of a block is refused, and so are names that are taken', async () => {
    const { access, signal, pool } = await createCluster();
    await pool({ name: 'tiny', cidr: '10.0.0.0/25' });
    expect((await failureOf(splitPool(access, 'tiny', 4, signal))).message).toMatch(/smaller than a block/);
    await pool({ name: 'old-2', cidr: '10.1.0.0/24' });
    expect((await failureOf(splitPool(access, 'old', 2, signal))).message).toMatch(/name of another pool/);
  });

  test('into more than a transaction holds is refused whole', async () => {
    const { access, signal } = await createCluster({ operations: 16 });
    expect((await failureOf(splitPool(access, 'old', 16, signal))).message).toMatch(
      /too many for one transaction/,
    );
    expect([...(await readCluster(access, signal)).pools.keys()]).toEqual(['old']);
  });
});

describe('a migration', () => {
  test('disables the pool, tells what is left, and deletes it when nothing is', async () => {
    const { access, signal, workload, store, keys, record, pool } = await createCluster();
    await pool({ name: 'new', cidr: '10.50.0.0/16' });
    await workload('web', { pools: ['old', 'new'], sticky: true, assigned: { web: ['10.244.0.5'] } });
    const looks: Migration[] = [];
    const wait = (migration: Migration): void => {
      looks.push(migration);
      if (looks.length === 1) void record('10.244.0.0/26', 'n1', []);
      if (looks.length === 2) void store.delete(keys.block('10.244.0.0/26'));
      if (looks.length === 3) void store.delete(keys.block('10.244.128.0/26'));
    };
    const end = await migratePool(access, 'old', 'new', { wait }, signal);
    expect(looks.map(({ pods, blocks }) => [pods.length, blocks.length])).toEqual([
      [1, 2],
      [0, 2],
      [0, 1],
    ]);
    expect(looks[0]?.pods[0]).toMatchObject({ address: '10.244.0.5', pod: 'default/a', node: 'n1' });
    expect(looks[0]?.blocks[0]).toEqual({ cidr: '10.244.0.0/26', node: 'n1', present: true });
    expect(end.done).toBe(true);
    const { pools, workloads } = await readCluster(access, signal);
    expect([...pools.keys()]).toEqual(['new']);
    expect(workloads[0]?.value).toMatchObject({ pools: ['new'], assigned: {} });
  });

  test('can be done again, and without waiting only begins', async () => {
    const { access, signal, pool } = await createCluster();
    await pool({ name: 'new', cidr: '10.50.0.0/16' });
    for (let turn = 0; turn < 2; turn++) {
      const { done, pods } = await migratePool(access, 'old', 'new', {}, signal);
      expect([done, pods.length]).toEqual([false, 1]);
    }
    expect((await readCluster(access, signal)).pools.get('old')?.value.disabled).toBe(true);
  });

  test.each([
    [{ cidr: 'fd00::/64' }, /other address family/],
    [{ cidr: '10.50.0.0/16', network: 'second' }, /of network second, not default/],
    [{ cidr: '10.50.0.0/16', disabled: true }, /it is disabled/],
    [{ cidr: '10.50.0.0/32', reserved: [] }, undefined],
  ])('to %j', async (more, message) => {
    const { access, signal, pool, record } = await createCluster();
    await pool({ name: 'new', ...more });
    await record('10.244.0.0/26', 'n1', ['10.244.0.5', '10.244.0.6']);
    const failure = await failureOf(migratePool(access, 'old', 'new', {}, signal));
    expect(failure.code).toBe('POOL_INVALID');
    expect(failure.message).toMatch(message ?? /it has 1 free addresses, and 2 are in use/);
    expect((await readCluster(access, signal)).pools.get('old')?.value.disabled).toBe(false);
  });

  test('does not call a node a pod', async () => {
    const { access, signal, pool, record } = await createCluster();
    await pool({ name: 'new', cidr: '10.50.0.0/16' });
    await record('10.244.128.0/26', 'n1', []);
    const { pods } = await migratePool(access, 'old', 'new', {}, signal);
    const own = { address: '10.244.128.0', owner: 'node:tunnel4', since: 0 };
    await record('10.244.128.0/26', 'n1', [], { entries: [own] });
    const again = await migratePool(access, 'old', 'new', {}, signal);
    expect([again.pods, again.blocks.length]).toEqual([pods, 2]);
  });

  test('asks for other static addresses first', async () => {
    const { access, signal, workload, pool } = await createCluster();
    await pool({ name: 'new', cidr: '10.50.0.0/16' });
    await workload('db', { addresses: ['10.244.0.7'] });
    const failure = await failureOf(migratePool(access, 'old', 'new', {}, signal));
    expect(failure).toMatchObject({ code: 'POOL_IN_USE' });
    expect(failure.message).toContain('default/default/db (10.244.0.7)');
  });

  test('moves more workloads than one transaction holds', async () => {
    const { access, signal, workload, pool } = await createCluster({ operations: 12 });
    await pool({ name: 'new', cidr: '10.50.0.0/16' });
    for (let index = 0; index < 100; index++) await workload(`w${index}`, { pools: ['old'] });
    await migratePool(access, 'old', 'new', {}, signal);
    const { workloads } = await readCluster(access, signal);
    expect(new Set(workloads.flatMap(({ value }) => value.pools))).toEqual(new Set(['new']));
  });
});

describe('a workload', () => {
  test('is made, changed and deleted; what its pods have stays', async () => {
    const { access, signal, workload } = await createCluster();
    await workload('db-*', { assigned: { 'db-0': ['10.244.0.6'] } });
    const name = { ...network, name: 'db-*' };
    await setWorkload(access, { ...name, addresses: ['10.244.0.6', '10.244.0.6'] }, signal);
    const changed = await setWorkload(access, { ...name, sticky: true, pools: ['old'] }, signal);
    expect(changed).toMatchObject({
      addresses: ['10.244.0.6'],
      sticky: true,
      pools: ['old'],
      assigned: { 'db-0': ['10.244.0.6'] },
    });
    expect(await deleteWorkload(access, name, signal)).toBe(true);
    expect(await deleteWorkload(access, name, signal)).toBe(false);
  });

  test('gets no address that another is given at the same moment', async () => {
    const { access, signal } = await createCluster();
    const request = { ...network, addresses: ['10.244.0.8'] };
    const outcomes = await Promise.allSettled(
      ['a', 'b'].map((name) => setWorkload(access, { ...request, name }, signal)),
    );
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const { workloads } = await readCluster(access, signal);
    expect(workloads).toHaveLength(1);
  });

  test.each([
    [{ pools: ['older'] }, 'POOL_UNKNOWN', /network default has no pool older; it has old/],
    [{ addresses: ['192.0.2.1'] }, 'ADDRESS_NOT_IN_POOL', /192.0.2.1 is in no pool/],
    [{ addresses: ['10.60.0.1'] }, 'ADDRESS_NOT_IN_POOL', /10.60.0.1 is in pool other of network second/],
    [{ addresses: ['10.244.1.1'] }, 'ADDRESS_NOT_IN_POOL', /10.244.1.1 is reserved in pool old/],
    [{ addresses: ['10.244.0.7'] }, 'ADDRESS_IN_USE', /belongs to workload default\/default\/first/],
    [{ addresses: ['x'] }, 'REQUEST_INVALID', /addresses.0/],
    [{ name: '*x' }, 'REQUEST_INVALID', /name: /],
  ])('%j is refused', async (more, code, message) => {
    const { access, signal, workload, pool } = await createCluster();
    await workload('first', { addresses: ['10.244.0.7'] });
    await pool({ name: 'other', cidr: '10.60.0.0/16', network: 'second' });
    const failure = await failureOf(setWorkload(access, { ...network, name: 'w', ...more }, signal));
    expect([failure.code, failure.message]).toEqual([code, expect.stringMatching(message)]);
  });

  test.each([
    ['web', 'default/default/web'],
    ['prod/web-*', 'default/prod/web-*'],
    ['blue/prod/web', 'blue/prod/web'],
  ])('%s means %s', (text, name) => {
    expect(Object.values(parseWorkloadName(text, 'default')).join('/')).toBe(name);
  });

  test.each(['', 'a/', 'a/b/c/d'])('%j means nothing', (text) => {
    expect(() => parseWorkloadName(text, 'default')).toThrow(/NAMESPACE/);
  });
});

test('a pool made after a migration may have the addresses of the old one', async () => {
  const { access, signal, store, keys, pool } = await createCluster();
  await pool({ name: 'new', cidr: '10.50.0.0/16' });
  for (const cidr of ['10.244.0.0/26', '10.244.128.0/26']) await store.delete(keys.block(cidr));
  await store.delete(keys.allocationRecord('10.244.0.0/26', 'n1'));
  expect((await migratePool(access, 'old', 'new', {}, signal)).done).toBe(true);
  expect(
    (await createPool(access, { name: 'old', network: 'default', cidr: '10.244.0.0/16' }, signal)).name,
  ).toBe('old');
});
