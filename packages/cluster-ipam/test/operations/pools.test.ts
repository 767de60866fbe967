import { describe, expect, test } from 'vitest';
import {
  createPool,
  createPools,
  deletePool,
  type PoolInput,
  readCluster,
  updatePool,
} from '../../src/operations/index.js';
import { createTestCluster, disturb, failureOf } from './cluster.js';

const input = (more: Partial<PoolInput> = {}): PoolInput => ({
  name: 'main',
  network: 'default',
  cidr: '10.244.0.0/16',
  ...more,
});

describe('a new pool', () => {
  test('has defaults', async () => {
    const { access, signal } = createTestCluster();
    const pool = await createPool(access, input(), signal);
    expect(pool).toMatchObject({ blockSize: 26, disabled: false, assignment: 'automatic', deleting: false });
    expect((await readCluster(access, signal)).pools.get('main')?.value).toEqual(pool);
  });

  test('has blocks no larger than itself', async () => {
    const { access, signal } = createTestCluster();
    expect((await createPool(access, input({ cidr: '10.0.0.0/28' }), signal)).blockSize).toBe(28);
    expect((await createPool(access, input({ name: 'six', cidr: 'fd00::/64' }), signal)).blockSize).toBe(122);
  });

  test.each<[Partial<PoolInput>, RegExp]>([
    [{ cidr: '10.244.0.1/16' }, /^pool main: cidr: .*bits set beyond its length/],
    [{ cidr: 'ten' }, /^pool main: cidr: /],
    [{ cidr: '10.0.0.0/8', blockSize: 19 }, /^pool main: blockSize: /],
    [{ cidr: '10.0.0.0/27', blockSize: 26 }, /^pool main: blockSize: 26 is shorter than the pool/],
    [{ cidr: 'fd00::/64', blockSize: 64 }, /^pool main: blockSize: 64 is not between 116 and 128/],
    [{ cidr: '169.254.8.0/24' }, /^pool main: cidr: .*link-local/],
    [{ cidr: 'fe80::/64' }, /^pool main: cidr: .*link-local/],
    [{ cidr: '127.1.0.0/16' }, /^pool main: cidr: .*loopback/],
    [{ cidr: '239.0.0.0/16' }, /^pool main: cidr: .*multicast/],
    [{ cidr: '10.9.0.0/16' }, /^pool main: cidr: 10.9.0.0\/16 overlaps 10.0.0.0\/12 \(pool old.cidr\)/],
    [{ name: 'old', cidr: '10.99.0.0/16' }, /^pool old: name: there is a pool of this name/],
    [{ name: '-x' }, /^pool -x: name: /],
    [{ reserved: ['192.0.2.1'] }, /^pool main: reserved\[0\]: 192.0.2.1 is not in 10.244.0.0\/16/],
    [{ reserved: ['10.244.0.0/16'] }, /^pool main: reserved\[0\]: .* leaves nothing/],
    [{ nodeSelector: 'zone in a' }, /^pool main: nodeSelector: .*"\(" is expected/],
    [{ allocation: 'node-cidr', blockSize: 31 }, /^pool main: blockSize: a node's podCIDR/],
  ])('%j is refused', async (more, message) => {
    const { access, signal, pool } = createTestCluster();
    await pool({ name: 'old', cidr: '10.0.0.0/12' });
    const failure = await failureOf(createPool(access, input(more), signal));
    expect(failure.code).toBe('POOL_INVALID');
    expect(failure.message).toMatch(message);
    expect((await readCluster(access, signal)).pools.size).toBe(1);
  });

  test('has no address of a node or of the store, unless it reserves it', async () => {
    const { access, signal, node } = createTestCluster();
    await node('n1');
    const within = { ...access, storeAddresses: ['198.51.100.7'] };
    for (const [cidr, message] of [
      ['192.0.2.0/24', /^pool main: cidr: 192.0.2.0\/24 has 192.0.2.1, the address of node n1; choose/],
      ['198.51.100.0/24', /198.51.100.7, the address of the store/],
    ] as const) {
      const failure = await failureOf(createPool(within, input({ cidr }), signal));
      expect(failure.code).toBe('POOL_INVALID');
      expect(failure.message).toMatch(message);
    }
    const pool = input({ cidr: '192.0.2.0/24', reserved: ['192.0.2.0/28'] });
    expect(await createPool(within, pool, signal)).toMatchObject({ cidr: '192.0.2.0/24' });
  });

  test('that a node has joined into can still be changed', async () => {
    const { access, signal, node } = createTestCluster();
    await createPool(access, input({ cidr: '192.0.2.0/24' }), signal);
    await node('n1');
    expect(await updatePool(access, 'main', { disabled: true }, signal)).toMatchObject({ disabled: true });
  });

  test('several, or none', async () => {
    const { access, signal } = createTestCluster();
    const both = [input({ name: 'a' }), input({ name: 'b', cidr: '10.244.8.0/24' })];
    expect((await failureOf(createPools(access, both, signal))).message).toMatch(/^pool b: cidr: .*overlaps/);
    expect((await readCluster(access, signal)).pools.size).toBe(0);
  });

  test('never overlaps one that is made at the same time', async () => {
    const { access, signal } = createTestCluster();
    const inputs = Array.from({ length: 6 }, (_, index) => input({ name: `p${index}` }));
    const outcomes = await Promise.allSettled(inputs.map((each) => createPool(access, each, signal)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect((await readCluster(access, signal)).pools.size).toBe(1);
  });
});

describe('a change', () => {
  test('of what can be changed', async () => {
    const { access, signal, pool } = createTestCluster();
    await pool({ cidr: '10.244.0.0/16', maxBlocksPerNode: 3 });
    const patch = { disabled: true, reserved: ['10.244.0.0/24'], maxBlocksPerNode: null } as const;
    const changed = await updatePool(access, 'main', { ...patch, reserved: [...patch.reserved] }, signal);
    expect(changed).toMatchObject({ disabled: true, reserved: ['10.244.0.0/24'] });
    expect(changed).not.toHaveProperty('maxBlocksPerNode');
    expect((await updatePool(access, 'main', { maxBlocksPerNode: 5 }, signal)).maxBlocksPerNode).toBe(5);
  });

  test('to enabled ends a deletion that was left unfinished', async () => {
    const { access, signal, pool } = createTestCluster();
    await pool({ cidr: '10.244.0.0/16', deleting: true } as { cidr: string });
    expect((await updatePool(access, 'main', { natOutgoing: false }, signal)).deleting).toBe(true);
    expect((await updatePool(access, 'main', { disabled: false }, signal)).deleting).toBe(false);
  });

  test('not of cidr and block size', async () => {
    const { access, signal, pool } = createTestCluster();
    await pool({ cidr: '10.244.0.0/16' });
    for (const patch of [{ cidr: '10.0.0.0/8' }, { blockSize: 24 }]) {
      expect((await failureOf(updatePool(access, 'main', patch as object, signal))).code).toBe(
        'POOL_INVALID',
      );
    }
  });

  test('of a pool that does not exist names those that do', async () => {
    const { access, signal, pool } = createTestCluster();
    await pool({ cidr: '10.244.0.0/16' });
    const failure = await failureOf(updatePool(access, 'mian', {}, signal));
    expect(failure).toMatchObject({ code: 'POOL_UNKNOWN', message: 'no pool mian; there are main' });
  });

  test('gives up when others write all the time', async () => {
    const { access, signal, pool, store, keys } = createTestCluster();
    await pool({ cidr: '10.244.0.0/16' });
    const busy = disturb(store, () => store.put(keys.poolsGeneration, 'another client'));
    const work = updatePool({ ...access, store: busy }, 'main', { disabled: true }, signal);
    expect((await failureOf(work)).code).toBe('STORE_CONFLICT');
  });
});

describe('a deletion', () => {
  test('of an unused pool removes its blocks without an owner', async () => {
    const { access, signal, pool, block, keysBelow } = createTestCluster();
    await pool({ cidr: '10.244.0.0/16' });
    await block('10.244.1.0/26', undefined);
    await deletePool(access, 'main', {}, signal);
    expect(await keysBelow('shared/')).toEqual([]);
  });

  test('of what is in use names nodes and pods, and leaves the pool as it was', async () => {
    const { access, signal, pool, node, block, record } = createTestCluster();
    await pool({ cidr: '10.244.0.0/16' });
    await node('n1');
    await block('10.244.1.0/26', 'n1');
    await record('10.244.1.0/26', 'n1', ['10.244.1.5=default/web']);
    const failure = await failureOf(deletePool(access, 'main', {}, signal));
    expect(failure.code).toBe('POOL_IN_USE');
    expect(failure.message).toMatch(/nodes n1 have blocks of it \(10.244.1.0\/26\); in use by default\/web/);
    expect((await readCluster(access, signal)).pools.get('main')?.value.deleting).toBe(false);
  });

  test('waits until it is unused; meanwhile no node claims', async () => {
    const { access, signal, pool, node, block, store, keys, keysBelow } = createTestCluster();
    await pool({ cidr: '10.244.0.0/16' });
    await node('n1');
    await block('10.244.1.0/26', 'n1');
    const looks: unknown[] = [];
    const wait = (left: { blocks: readonly string[] }): void => {
      looks.push(left.blocks);
      if (looks.length === 3) void store.delete(keys.block('10.244.1.0/26'));
    };
    await deletePool(access, 'main', { wait }, signal);
    expect(looks).toHaveLength(3);
    expect(await keysBelow('shared/pools/')).toEqual([]);
  });

  test('that is interrupted leaves the pool as it was', async () => {
    const { access, pool, node, block, signal } = createTestCluster();
    await pool({ cidr: '10.244.0.0/16' });
    await node('n1');
    await block('10.244.1.0/26', 'n1');
    const stop = new AbortController();
    const wait = (): void => stop.abort(new Error('enough'));
    expect((await failureOf(deletePool(access, 'main', { wait }, stop.signal))).message).toBe('enough');
    expect((await readCluster(access, signal)).pools.get('main')?.value.deleting).toBe(false);
  });

  test('of what a workload names is refused', async () => {
    const { access, signal, pool, workload } = createTestCluster();
    await pool({ cidr: '10.244.0.0/16' });
    await workload('web-*', { pools: ['main'] });
    const failure = await failureOf(deletePool(access, 'main', {}, signal));
    expect(failure).toMatchObject({ code: 'POOL_IN_USE' });
    expect(failure.message).toContain('default/default/web-*');
  });

  test('loses against a claim that was first, and wins against one that comes later', async () => {
    const { access, signal, pool, store, keys } = createTestCluster();
    const revision = await pool({ cidr: '10.244.0.0/16' });
    await deletePool(access, 'main', {}, signal);
    const claim = await store.transact({
      conditions: [{ key: keys.pool('main'), expect: revision }],
      writes: [{ op: 'put', key: keys.block('10.244.1.0/26'), value: '{}' }],
    });
    expect(claim.committed).toBe(false);
  });
});
