import { describe, expect, test } from 'vitest';
import { readCluster, releaseAddress, releaseNode, showNodes } from '../../src/operations/index.js';
import { createTestCluster, disturb, failureOf, type TestCluster } from './cluster.js';

async function createCluster(limits = {}): Promise<TestCluster> {
  const cluster = createTestCluster(limits);
  const { pool, node, block, record } = cluster;
  await pool({ cidr: '10.244.0.0/16' });
  await node('n1');
  await node('n2');
  await block('10.244.0.0/26', 'n1', { loans: [{ address: '10.244.0.9', node: 'n2' }] });
  await block('10.244.0.64/26', 'n2', { loans: [{ address: '10.244.0.65', node: 'n1' }] });
  await record('10.244.0.0/26', 'n1', ['10.244.0.5=default/a']);
  await record('10.244.0.0/26', 'n2', ['10.244.0.9=default/b']);
  await record('10.244.0.64/26', 'n1', ['10.244.0.65=default/c']);
  return cluster;
}

describe('the release of a node', () => {
  test('takes blocks, what it borrowed, records, requests, absence and the node; what others have borrowed of it stays', async () => {
    const { access, signal, leave, absence, request, keysBelow } = await createCluster();
    await leave('n1');
    await absence('n1');
    await request('10.244.0.64/26', 'n1');
    const released = await releaseNode(access, 'n1', {}, signal);
    expect(released).toEqual({ node: 'n1', blocks: ['10.244.0.0/26'], loans: ['10.244.0.65'], addresses: 2 });
    const { blocks } = await readCluster(access, signal);
    expect(blocks.get('10.244.0.0/26')?.value).not.toHaveProperty('node');
    expect(blocks.get('10.244.0.0/26')?.value).not.toHaveProperty('instance');
    expect(blocks.get('10.244.0.0/26')?.value.loans).toEqual([{ address: '10.244.0.9', node: 'n2' }]);
    expect(blocks.get('10.244.0.64/26')?.value.loans).toEqual([]);
    expect(await keysBelow('absences/')).toEqual([]);
    expect(await keysBelow('shared/loan-requests/')).toEqual([]);
    expect(await keysBelow('ledgers/')).toEqual(['ledgers/10.244.0.0-26/n2']);
    expect(await keysBelow('shared/nodes/')).toEqual(['shared/nodes/n2']);
  });

  test('takes what policy knows of its pods', async () => {
    const { access, signal, leave, store, keys, keysBelow } = await createCluster();
    for (const [node, name] of [
      ['n1', 'a'],
      ['n1', 'b'],
      ['n10', 'c'],
    ] as const)
      await store.put(keys.podFacts(node, 'shop', name), '{}');
    await leave('n1');
    await releaseNode(access, 'n1', {}, signal);
    expect(await keysBelow('pod-facts/')).toEqual(['pod-facts/n10/shop/c']);
  });

  test('takes nothing from one that is up', async () => {
    const { access, signal, store, keys } = await createCluster();
    const before = await store.list(keys.root);
    expect((await failureOf(releaseNode(access, 'n1', {}, signal))).code).toBe('NODE_ALIVE');
    expect((await store.list(keys.root)).items).toEqual(before.items);
  });

  test('stops where the node comes back', async () => {
    const { access, store, signal, leave, node, keysBelow } = await createCluster();
    await leave('n1');
    let looks = 0;
    const returning = disturb(store, async () => {
      if (looks++ === 0) await node('n1');
    });
    const failure = await failureOf(releaseNode({ ...access, store: returning }, 'n1', {}, signal));
    expect(failure.code).toBe('NODE_ALIVE');
    expect(await keysBelow('shared/blocks/')).toHaveLength(2);
  });

  test('stops where it was back for a moment', async () => {
    const { access, signal, leave, absence, node, store, keys } = await createCluster();
    await leave('n1');
    await absence('n1');
    const seen = (await readCluster(access, signal)).unreachable.get('n1')!;
    await store.delete(keys.unreachable('n1'));
    await node('n1', { present: false });
    await absence('n1');
    expect((await failureOf(releaseNode(access, 'n1', { unreachable: seen }, signal))).code).toBe(
      'NODE_ALIVE',
    );
  });

  test('of an unknown one', async () => {
    const { access, signal } = await createCluster();
    expect((await failureOf(releaseNode(access, 'n9', {}, signal))).code).toBe('NODE_UNKNOWN');
  });

  test('of an import, which has no node object', async () => {
    const { access, signal, importedBlock, record, keysBelow } = await createCluster();
    await importedBlock('10.244.1.0/26', 'old');
    await record('10.244.1.0/26', 'old', ['10.244.1.1']);
    expect(await releaseNode(access, 'old', {}, signal)).toMatchObject({
      blocks: ['10.244.1.0/26'],
      addresses: 1,
    });
    expect(await keysBelow('shared/blocks/10.244.1')).toEqual([]);
  });

  test('in as many transactions as it takes, the node last', async () => {
    const cluster = await createCluster({ operations: 16 });
    const { access, signal, leave, block, keysBelow, store } = cluster;
    for (let index = 0; index < 100; index++) await block(`10.244.${index + 1}.0/26`, 'n1');
    await leave('n1');
    const before = store.calls;
    const released = await releaseNode(access, 'n1', {}, signal);
    expect(released.blocks).toHaveLength(101);
    expect(await keysBelow('shared/blocks/')).toHaveLength(2);
    expect(store.calls - before).toBeLessThan(15);
    expect(showNodes(await readCluster(access, signal)).map(({ name }) => name)).toEqual(['n2']);
  });

  test('keeps what sticky workloads keep, and frees what others had', async () => {
    const { access, signal, leave, workload } = await createCluster();
    await workload('a', { sticky: true, assigned: { a: ['10.244.0.5'] } });
    await workload('c', { assigned: { c: ['10.244.0.65'], d: ['10.244.0.66'] } });
    await leave('n1');
    await releaseNode(access, 'n1', {}, signal);
    const { workloads } = await readCluster(access, signal);
    expect(workloads.map(({ value }) => value.assigned)).toEqual([
      { a: ['10.244.0.5'] },
      { d: ['10.244.0.66'] },
    ]);
  });
});

describe('the release of an address', () => {
  test('is refused while its node is registered, up or not', async () => {
    const { access, signal, leave } = await createCluster();
    const refused = await failureOf(releaseAddress(access, '10.244.0.5', { force: false }, signal));
    expect(refused).toMatchObject({
      code: 'ADDRESS_IN_USE',
      message: '10.244.0.5: node n1, which is up, reports it for default/a',
    });
    await leave('n1');
    const cut = await failureOf(releaseAddress(access, '10.244.0.5', { force: false }, signal));
    expect(cut.message).toBe('10.244.0.5: node n1, which is unreachable, reports it for default/a');
  });

  test('with force takes it out of allocation record, borrowed addresses and workload', async () => {
    const { access, signal, workload } = await createCluster();
    await workload('b', { sticky: true, assigned: { b: ['10.244.0.9'] } });
    const { done } = await releaseAddress(access, '10.244.0.9', { force: true }, signal);
    expect(done).toHaveLength(3);
    const { blocks, allocationRecords, workloads } = await readCluster(access, signal);
    expect(blocks.get('10.244.0.0/26')?.value.loans).toEqual([]);
    expect(
      allocationRecords.flatMap(({ value }) => value.entries.map(({ address }) => address)),
    ).not.toContain('10.244.0.9');
    expect(workloads[0]?.value.assigned).toEqual({});
  });

  test('of one of two nodes that have it leaves the other its own', async () => {
    const { access, signal, record, workload } = await createCluster();
    await record('10.244.0.64/26', 'n1', ['10.244.0.65=default/c', '10.244.0.70=default/twin']);
    await record('10.244.0.64/26', 'n2', ['10.244.0.70=default/right']);
    await workload('right', { sticky: true, assigned: { right: ['10.244.0.70'] } });
    const { done } = await releaseAddress(access, '10.244.0.70', { force: true, node: 'n1' }, signal);
    expect(done).toEqual(['taken out of the record of node n1']);
    const wrong = await releaseAddress(access, '10.244.0.65', { force: true, node: 'n2' }, signal);
    expect(wrong.done).toEqual([]);
    const { allocationRecords, workloads, blocks } = await readCluster(access, signal);
    const pods = allocationRecords.flatMap(({ value }) => value.entries.map(({ pod }) => pod));
    expect(pods.sort()).toEqual(['default/a', 'default/b', 'default/c', 'default/right']);
    expect(workloads[0]?.value.assigned).toEqual({ right: ['10.244.0.70'] });
    expect(blocks.get('10.244.0.64/26')?.value.loans).toHaveLength(1);
  });

  test('of an import', async () => {
    const { access, signal, importedBlock, record } = await createCluster();
    await importedBlock('10.244.1.0/26', 'old');
    await record('10.244.1.0/26', 'old', ['10.244.1.1', '10.244.1.2']);
    const { done } = await releaseAddress(access, '10.244.1.1', { force: false }, signal);
    expect(done).toEqual(['taken out of the record of node old']);
  });

  test('of an address that a node that is gone has borrowed', async () => {
    const { access, signal, block } = await createCluster();
    await block('10.244.1.0/26', undefined, { loans: [{ address: '10.244.1.1', node: 'gone' }] });
    await releaseAddress(access, '10.244.1.1', { force: false }, signal);
    expect((await readCluster(access, signal)).blocks.has('10.244.1.0/26')).toBe(false);
  });

  test('of an unallocated address does nothing', async () => {
    const { access, signal } = await createCluster();
    expect((await releaseAddress(access, '10.244.0.50', { force: false }, signal)).done).toEqual([]);
  });

  test('loses against a node that comes back at that moment', async () => {
    const { access, signal, store, importedBlock, record, node } = await createCluster();
    await importedBlock('10.244.1.0/26', 'old');
    await record('10.244.1.0/26', 'old', ['10.244.1.1']);
    let looks = 0;
    const returning = disturb(store, async () => {
      if (looks++ === 0) await node('old');
    });
    const work = releaseAddress({ ...access, store: returning }, '10.244.1.1', { force: false }, signal);
    expect((await failureOf(work)).code).toBe('ADDRESS_IN_USE');
  });
});
