/** Actions of others, and late arrivals, between two steps of a node. */
import { type Block, blockKind, allocationRecordKind, nodeLeaseKind } from '@podwire/cluster-state';
import { decodeObject, encodeObject, type Transaction, type Write } from '@podwire/store';
import { afterEach, expect, it } from 'vitest';
import { unanswered, withTransact, written } from './support/between.js';
import { keys, newDisk, TestCluster } from './support/cluster.js';

let cluster: TestCluster;
const begin = async (...pools: object[]): Promise<TestCluster> => {
  cluster = new TestCluster();
  for (const pool of pools) await cluster.putPool(pool);
  return cluster;
};
afterEach(() => cluster.close());

const putBlock = (block: Partial<Block> & { cidr: string }): Promise<number> => {
  const value: Block = { state: 'confirmed', claimedAt: 1, loans: [], ...block };
  return cluster.admin.put(keys.block(block.cidr), encodeObject(blockKind, value));
};

it('a node whose name another agent has got takes nothing of that one, and hands out nothing', async () => {
  await begin({});
  const node = await cluster.join('n1');
  for (let n = 0; n < 20; n++) await cluster.during(node.add(`p${n}`));
  const blocks = await cluster.blocks();
  expect(blocks.length).toBeGreaterThan(1);
  const presence = encodeObject(nodeLeaseKind, { node: 'n1', instance: 'other', since: 1 });
  const writes: Write[] = [
    { op: 'put', key: keys.nodeLease('n1'), value: presence },
    ...blocks.map(({ cidr, ...block }): Write => {
      const value = encodeObject(blockKind, { ...block, cidr, instance: 'other' });
      return { op: 'put', key: keys.block(cidr), value };
    }),
  ];
  await cluster.admin.transact({ conditions: [], writes });
  await cluster.clock.settle();
  expect(node.ipam.blocks()).toEqual([]);
  await cluster.clock.advance(5_000);
  for (const { instance } of await cluster.blocks()) expect(instance).toBe('other');
  await expect(cluster.during(node.add('q'))).rejects.toMatchObject({ code: 'NODE_FENCED' });
});

it('a node that has registered anew answers as before', async () => {
  await begin({ cidr: '10.0.0.0/28' });
  const owner = await cluster.join('n1');
  const borrower = await cluster.join('n2');
  await owner.register();
  expect(await cluster.during(borrower.add('b'))).toHaveLength(1);
});

it('an answer that is older than what the watch has told takes nothing out of the cache', async () => {
  await begin();
  const cidr = '10.0.0.0/28';
  await putBlock({ cidr, loans: [{ address: '10.0.0.5', node: 'n9' }] });
  let isFirst = true;
  const wrap = withTransact(async (transaction, options, store) => {
    if (written(transaction, keys.block(cidr)) === undefined || !isFirst)
      return store.transact(transaction, options);
    isFirst = false;
    await cluster.admin.delete(keys.block(cidr));
    const outcome = await store.transact(transaction, options);
    await putBlock({ cidr, node: 'n2', instance: 'i' });
    await cluster.clock.settle();
    return outcome;
  });
  const node = await cluster.join('n1', { wrap });
  await cluster.putPool({ cidr, borrowing: false });
  await cluster.clock.advance(1_000);
  expect(isFirst).toBe(false);
  expect(node.cache.blocks.get(cidr)?.value.node).toBe('n2');
});

it('what can never be done keeps nothing else from being done', async () => {
  await begin({});
  const [broken, fine] = ['10.0.0.32/28', '10.0.0.64/28'] as const;
  for (const cidr of [broken, fine]) await putBlock({ cidr, node: 'n1' });
  await cluster.admin.put(keys.allocationRecord(broken, 'n1'), 'no record');
  const node = await cluster.join('n1');
  await cluster.clock.advance(5_000);
  expect(await cluster.block(fine)).toMatchObject({ instance: node.disk.instance });
  expect(await cluster.block(broken)).not.toHaveProperty('instance');
  for (let n = 0; n < 40; n++) await cluster.during(node.add(`p${n}`));
  await cluster.clock.advance(15_000);
  const own = (await cluster.blocks()).filter(({ instance }) => instance !== undefined);
  expect(own.map(({ state }) => state)).not.toContain('pending');
  for (let n = 0; n < 40; n++) node.remove(`p${n}`);
  await cluster.clock.advance(200_000);
  expect((await cluster.blocks()).length).toBeLessThan(4);
});

it('addresses in use of an imported block are in the file before it is the node’s', async () => {
  await begin({});
  const cidr = '10.0.0.32/28';
  await putBlock({ cidr, node: 'n1' });
  const entries = [{ address: '10.0.0.33', owner: 'calico', since: 1 }];
  const record = { cidr, node: 'n1', entries, reportedAt: 1 };
  await cluster.admin.put(keys.allocationRecord(cidr, 'n1'), encodeObject(allocationRecordKind, record));
  const disk = newDisk();
  const files: unknown[] = [];
  const wrap = withTransact((transaction, options, store) => {
    if (written(transaction, keys.block(cidr)) !== undefined) files.push(disk.file?.imported);
    return store.transact(transaction, options);
  });
  await cluster.join('n1', { wrap }, disk);
  expect(files[0]).toEqual(entries);
});

it('a borrowed address that was imported is not given back while its record cannot be read', async () => {
  await begin();
  const cidr = '10.0.0.32/28';
  await putBlock({ cidr, node: 'n1', loans: [{ address: '10.0.0.33', node: 'n2' }] });
  await cluster.admin.put(keys.allocationRecord(cidr, 'n2'), 'no record');
  await cluster.putPool();
  await cluster.join('n2');
  await cluster.clock.advance(120_000);
  expect((await cluster.block(cidr))?.loans).toHaveLength(1);
});

it('a block is not given back that was announced late, when pods get addresses of it again', async () => {
  await begin({});
  const node = await cluster.join('n1');
  await node.add('p');
  node.remove('p');
  const [block] = await cluster.blocks();
  await putBlock({ ...block!, state: 'pendingDeletion' });
  for (let n = 0; n < 20; n++) {
    await cluster.clock.advance(500);
    expect(await cluster.block(block!.cidr)).toMatchObject({ node: 'n1', claimedAt: block!.claimedAt });
  }
  expect(await cluster.block(block!.cidr)).toMatchObject({ state: 'confirmed' });
  await node.add('q');
});

it('a block that is kept after all is not taken away by an earlier attempt to give it back', async () => {
  await begin({});
  const disk = newDisk();
  let arrive: (() => Promise<unknown>) | undefined;
  let isDeaf = true;
  const wrap = withTransact((transaction, options, store) => {
    const [write] = transaction.writes;
    // No node has heard of the announcement either.
    if (isDeaf && write?.op === 'put' && write.value.includes('"pendingDeletion"'))
      return unanswered(options);
    if (!isDeaf || write?.op !== 'delete' || !write.key.startsWith(keys.block('')))
      return store.transact(transaction, options);
    arrive ??= () => store.transact(transaction);
    return unanswered(options);
  });
  const node = await cluster.join('n1', { wrap }, disk);
  for (let n = 0; n < 20; n++) await cluster.during(node.add(`p${n}`));
  for (let n = 0; n < 20; n++) node.remove(`p${n}`);
  while (arrive === undefined) await cluster.clock.advance(1_000);
  const going = node.addressing.status().affinities.find(({ state }) => state === 'pendingDeletion')!;
  const address = going.cidr.replace('/28', '').replace(/\d+$/, (last) => String(Number(last) + 1));
  // As it is when a record is found late.
  node.addressing.noteUsed({ address, owner: 'late', since: 1 });
  await cluster.clock.advance(20_000);
  const kept = await cluster.block(going.cidr);
  isDeaf = false;
  await arrive();
  await cluster.clock.settle();
  expect(await cluster.block(going.cidr)).toEqual(kept);
});

it('a node has one block of a node-cidr pool, also when several want one at once, or an address by name', async () => {
  await begin();
  let latency = 0;
  const node = await cluster.join('n1', {}, newDisk(), { latency: () => latency });
  latency = 20;
  await cluster.putPool({ allocation: 'node-cidr', name: 'other', cidr: '10.1.0.0/24' });
  await cluster.clock.advance(25);
  const adding = Promise.all(['a', 'b'].map((owner) => node.add(owner)));
  expect(await cluster.during(adding, 5)).toHaveLength(2);
  await cluster.clock.advance(1_000);
  expect(await cluster.blocks()).toHaveLength(1);
  await expect(cluster.during(node.add('c', { requested: ['10.1.0.200'] }))).rejects.toMatchObject({
    code: 'ADDRESS_IN_USE',
  });
  await cluster.clock.advance(1_000);
  expect(await cluster.blocks()).toHaveLength(1);
});

it('no block is made over a smaller one', async () => {
  await begin();
  await putBlock({ cidr: '10.0.0.64/30', node: 'n2', instance: 'i' });
  await cluster.putPool();
  const node = await cluster.join('n1');
  await expect(cluster.during(node.add('p', { requested: ['10.0.0.70'] }))).rejects.toMatchObject({
    code: 'ADDRESS_IN_USE',
  });
  expect(await cluster.block('10.0.0.64/28')).toBeUndefined();
});

it('a grant that arrives in the next life of its owner’s agent is handed out by no other node', async () => {
  await begin({ cidr: '10.0.0.0/28' });
  let late: Transaction | undefined;
  const wrap = withTransact((transaction, options, store) => {
    if (written(transaction, keys.block('10.0.0.0/28'))?.includes('"loans":[{') !== true)
      return store.transact(transaction, options);
    late ??= transaction;
    return unanswered(options);
  });
  const before = await cluster.join('n1', { wrap });
  const borrower = await cluster.join('n2');
  const adding = borrower.add('b').catch(() => undefined);
  while (late === undefined) await cluster.clock.advance(10);
  // Its question stays where it is.
  borrower.cut();
  await before.stop();
  const after = cluster.create('n1', before.disk, { isAway: true });
  await cluster.during(after.start());
  for (let n = 0; n < 13; n++) await cluster.during(after.add(`o${n}`));
  await cluster.admin.transact(late);
  const [loan] = (await cluster.block('10.0.0.0/28'))!.loans;
  expect(loan).toMatchObject({ node: 'n2' });
  expect(after.ipam.leases().map(({ address }) => address)).not.toContain(loan!.address);
  await Promise.all([after.restore(), borrower.restore(), cluster.during(adding)]);
  borrower.remove('b');
  await cluster.clock.advance(60_000);
  expect((await cluster.block('10.0.0.0/28'))!.loans).toEqual([]);
  expect(await cluster.during(after.add('o', { requested: [loan!.address] }))).toEqual([loan!.address]);
});

it('a borrowed address that was imported is not handed out after a restart either, while its use is unknown', async () => {
  await begin();
  const cidr = '10.0.0.32/28';
  await putBlock({ cidr, node: 'n1', loans: [{ address: '10.0.0.33', node: 'n2' }] });
  await cluster.admin.put(keys.allocationRecord(cidr, 'n2'), 'no record');
  await cluster.putPool({ cidr });
  const before = await cluster.join('n2');
  await before.stop();
  const after = cluster.create('n2', before.disk, { isAway: true });
  await cluster.during(after.start());
  await expect(cluster.during(after.add('p'))).rejects.toThrow();
});

it('a record that an older report has overwritten is put right when nothing can be on its way any more', async () => {
  await begin({});
  let late: Transaction | undefined;
  const wrap = withTransact((transaction, options, store) => {
    const isReport = transaction.writes.some(
      ({ op, key }) => op === 'put' && key.startsWith('/test/ledgers/'),
    );
    if (!isReport || late !== undefined) return store.transact(transaction, options);
    late = transaction;
    return unanswered(options);
  });
  const node = await cluster.join('n1', { wrap });
  const [{ cidr }] = (await cluster.blocks()) as [Block];
  const isListed = async (): Promise<boolean> =>
    (await cluster.admin.get(keys.allocationRecord(cidr, 'n1'))) !== undefined;
  await node.add('p');
  while (!(await isListed())) await cluster.clock.advance(1_000);
  node.remove('p');
  while (await isListed()) await cluster.clock.advance(1_000);
  await cluster.admin.transact(late!);
  expect(await isListed()).toBe(true);
  await cluster.clock.advance(330_000);
  expect(await isListed()).toBe(false);
});

it('the record of a lost block lists its pods, and is deleted with the last', async () => {
  await begin({});
  const node = await cluster.join('n1');
  for (const owner of ['p', 'q']) await node.add(owner);
  await cluster.clock.advance(1_000);
  const [block] = await cluster.blocks();
  await putBlock({ ...block!, node: 'n2', instance: 'other' });
  await cluster.clock.settle();
  const owners = async (): Promise<string[] | undefined> => {
    const item = await cluster.admin.get(keys.allocationRecord(block!.cidr, 'n1'));
    return item && decodeObject(allocationRecordKind, item.key, item.value).entries.map(({ owner }) => owner);
  };
  node.remove('p');
  await cluster.clock.advance(1_000);
  expect(await owners()).toEqual(['q']);
  node.remove('q');
  await cluster.clock.advance(1_000);
  expect(await owners()).toBeUndefined();
});
