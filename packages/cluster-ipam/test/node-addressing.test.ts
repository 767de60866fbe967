import { afterEach, describe, expect, it } from 'vitest';
import { type Block, blockKind, allocationRecordKind } from '@podwire/cluster-state';
import type { SavedState } from '@podwire/cluster-ipam';
import { PodwireError } from '@podwire/errors';
import { decodeObject, encodeObject } from '@podwire/store';
import { keys, newDisk, TestCluster, type TestNode } from './support/cluster.js';

let cluster: TestCluster;
const begin = async (...pools: object[]): Promise<TestCluster> => {
  cluster = new TestCluster();
  for (const pool of pools.length === 0 ? [{}] : pools) await cluster.putPool(pool);
  return cluster;
};
afterEach(() => cluster.close());

/** Whatever the node's IPAM hands out of the block: the block is the node's in the store. */
async function expectOwn({ name, ipam }: TestNode, cidr: string): Promise<void> {
  const requested = [cidr.replace('/30', '')];
  try {
    ipam.allocate({ owner: cidr, requested });
  } catch {
    return;
  }
  expect(await cluster.block(cidr)).toMatchObject({ node: name });
  ipam.release(cidr);
}

describe('a node', () => {
  it('has one block when it is ready, and another before the first is used up', async () => {
    const { clock } = await begin();
    const node = await cluster.join('n1');
    expect(node.blocks).toHaveLength(1);
    const [first] = node.blocks;
    await clock.advance(100);
    expect(await cluster.block(first!)).toMatchObject({ node: 'n1', state: 'confirmed', loans: [] });
    const { calls } = node.client;
    for (let n = 0; n < 7; n++) await node.add(`p${n}`);
    expect(node.client.calls).toBe(calls);
    await node.add('p8');
    await clock.advance(10);
    expect(node.blocks).toHaveLength(2);
  });

  it('claims with one round trip, whatever the size of the pool', async () => {
    await begin({ cidr: '10.0.0.0/12' });
    const node = await cluster.join('n1');
    await cluster.clock.advance(1000);
    const { calls } = node.client;
    await node.addressing.provide(
      { network: 'pods', families: [4], requested: ['10.3.0.9'] },
      AbortSignal.timeout(5_000),
    );
    expect(node.client.calls - calls).toBe(1);
  });

  it('tells the store what is in use, several changes together', async () => {
    const { clock } = await begin();
    const node = await cluster.join('n1');
    await clock.advance(1000);
    const { calls } = node.client;
    for (let n = 0; n < 5; n++) await node.add(`p${n}`);
    node.remove('p3');
    expect(node.addressing.status().unreported).toBe(6);
    await clock.advance(600);
    expect(node.addressing.status().unreported).toBe(0);
    expect(node.client.calls - calls).toBe(1);
    const item = await cluster.admin.get(keys.allocationRecord(node.blocks[0]!, 'n1'));
    const { entries } = decodeObject(allocationRecordKind, item!.key, item!.value);
    expect(entries.map(({ owner }) => owner)).toEqual(['p0', 'p1', 'p2', 'p4']);
  });

  it('gives back what it does not need, after it was announced', async () => {
    const { clock } = await begin({ blockSize: 30, cidr: '10.0.0.0/26' });
    const node = await cluster.join('n1');
    for (let n = 0; n < 20; n++) await cluster.during(node.add(`p${n}`));
    const most = node.blocks.length;
    for (let n = 0; n < 20; n++) node.remove(`p${n}`);
    await clock.advance(300_000);
    expect(node.blocks.length).toBeLessThan(most);
    expect(node.blocks.length).toBeLessThanOrEqual(2);
    expect((await cluster.blocks()).map(({ cidr }) => cidr).sort()).toEqual(node.blocks);
  });

  it('hands out nothing of a block that it gives back, also when it was wanted while another was announced', async () => {
    const { clock } = await begin({ blockSize: 30, cidr: '10.0.0.0/26' });
    let latency = 0;
    const node = await cluster.join('n1', {}, newDisk(), { latency: () => latency });
    for (let n = 0; n < 20; n++) await cluster.during(node.add(`p${n}`));
    for (let n = 0; n < 20; n++) node.remove(`p${n}`);
    const going = (): string[] =>
      node.addressing
        .status()
        .affinities.flatMap(({ cidr, state }) => (state === 'pendingDeletion' ? cidr : []));
    latency = 200;
    while (going().length === 0) await clock.advance(100);
    const wanted = node.blocks.filter((cidr) => !node.ipam.blocks().includes(cidr));
    expect(wanted.length).toBeGreaterThan(0);
    for (let step = 0; step < 100; step++) {
      for (const cidr of wanted) await expectOwn(node, cidr);
      await clock.advance(100);
    }
  });

  it('claims one block for all who want addresses of it by name at once', async () => {
    await begin();
    const node = await cluster.join('n1');
    const wanted = ['10.0.0.100', '10.0.0.101', '10.0.0.102'];
    const adding = wanted.map((address) => node.add(address, { requested: [address] }));
    expect(await cluster.during(Promise.all(adding))).toEqual(wanted.map((address) => [address]));
    expect(node.blocks.filter((cidr) => cidr === '10.0.0.96/28')).toHaveLength(1);
  });

  it('hands out nothing of a block that was taken from it', async () => {
    await begin();
    const node = await cluster.join('n1');
    await node.add('p');
    const [cidr] = node.blocks;
    const block = await cluster.block(cidr!);
    const others = encodeObject(blockKind, { ...block!, node: 'n2', instance: 'other' });
    await cluster.admin.put(keys.block(cidr!), others);
    await cluster.clock.settle();
    expect(node.ipam.blocks()).not.toContain(cidr);
    expect(node.ipam.foreignLeases()).toMatchObject([{ owner: 'p' }]);
    await cluster.during(node.add('q'));
    expect(node.blocks).not.toContain(cidr);
  });

  it('gives back nothing that its file says it has', async () => {
    const { clock } = await begin({ blockSize: 30, cidr: '10.0.0.0/26' });
    const disk = newDisk();
    const node = await cluster.join('n1', {}, disk);
    for (let n = 0; n < 20; n++) await cluster.during(node.add(`p${n}`));
    for (let n = 0; n < 20; n++) node.remove(`p${n}`);
    let isFull = true;
    let file = disk.file;
    Object.defineProperty(disk, 'file', {
      get: () => file,
      set(next: SavedState) {
        if (isFull) throw new PodwireError('RECORD_IO', 'no space left');
        file = next;
      },
    });
    for (let n = 0; n < 100; n++) {
      await clock.advance(1_000);
      const there = (await cluster.blocks()).map(({ cidr }) => cidr);
      const has = file!.affinities.filter(({ state }) => state !== 'pendingDeletion').map(({ cidr }) => cidr);
      expect(there).toEqual(expect.arrayContaining(has));
    }
    isFull = false;
    await clock.advance(100_000);
    expect((await cluster.blocks()).length).toBeLessThanOrEqual(2);
  });

  it('does not use pools that do not select it, or that are for who asks', async () => {
    await begin(
      { name: 'a', cidr: '10.1.0.0/24', nodeSelector: 'zone=b' },
      { name: 'b', cidr: '10.2.0.0/24', nodeSelector: 'zone in (a),!gpu' },
      { name: 'c', cidr: '10.3.0.0/24', assignment: 'manual' },
    );
    const node = await cluster.join('n1', { labels: { zone: 'a' } });
    expect(node.blocks[0]).toMatch(/^10\.2\./);
    expect((await cluster.during(node.add('p', { pools: ['c'] })))[0]).toMatch(/^10\.3\./);
    await expect(cluster.during(node.add('q', { pools: ['a'] }))).rejects.toMatchObject({
      code: 'POOL_EXHAUSTED',
    });
  });

  it('has exactly one block of a node-cidr pool', async () => {
    await begin({ allocation: 'node-cidr', blockSize: 28 });
    const node = await cluster.join('n1');
    const addresses: string[] = [];
    for (let n = 0; n < 13; n++) addresses.push(...(await node.add(`p${n}`)));
    await expect(cluster.during(node.add('more'))).rejects.toMatchObject({ code: 'POOL_EXHAUSTED' });
    for (let n = 0; n < 13; n++) node.remove(`p${n}`);
    await cluster.clock.advance(300_000);
    expect(node.blocks).toHaveLength(1);
  });

  it('has a block of each address family', async () => {
    await begin({}, { name: 'six', cidr: 'fd00:244::/64', blockSize: 122 });
    const node = await cluster.join('n1');
    expect(node.blocks.map((cidr) => cidr.includes(':')).sort()).toEqual([false, true]);
    expect(node.ipam.allocate({ owner: 'p' })).toHaveLength(2);
  });

  it('keeps to its largest number of blocks', async () => {
    await begin({ maxBlocksPerNode: 1 });
    const node = await cluster.join('n1');
    for (let n = 0; n < 15; n++) await node.add(`p${n}`).catch(() => undefined);
    await expect(cluster.during(node.add('a'))).rejects.toThrow(/as many as it may \(1\)/);
  });
});

describe('a restart', () => {
  it('of the agent goes on with what was there, also while the store is away', async () => {
    const { clock } = await begin();
    const disk = newDisk();
    const before = await cluster.join('n1', {}, disk);
    const [address] = await before.add('p');
    await clock.advance(1000);
    await before.stop();
    const after = cluster.create('n1', disk, { isAway: true });
    await cluster.during(after.start());
    expect(after.blocks).toEqual(before.blocks);
    const [other] = await after.add('q');
    expect(other).not.toBe(address);
    await after.restore();
    await clock.advance(20_000);
    expect(after.addressing.status()).toMatchObject({ fenced: false, connected: true, problems: [] });
  });

  it('of the machine takes over the blocks, and what was in use of them is free', async () => {
    const { clock } = await begin({ cidr: '10.0.0.0/28' });
    const before = await cluster.join('n1');
    for (let n = 0; n < 14; n++) await before.add(`p${n}`);
    await clock.advance(1000);
    await before.stop();
    const after = await cluster.join('n1');
    expect(after.blocks).toEqual(before.blocks);
    await clock.advance(1000);
    expect(await cluster.admin.get(keys.allocationRecord('10.0.0.0/28', 'n1'))).toBeUndefined();
    for (let n = 0; n < 14; n++) await after.add(`q${n}`);
  });

  it('of the agent tells the store which pods have ended meanwhile', async () => {
    const { clock } = await begin();
    const disk = newDisk();
    const before = await cluster.join('n1', {}, disk);
    await before.add('p');
    await clock.advance(1000);
    await before.stop();
    disk.records.clear();
    await cluster.join('n1', {}, disk);
    await clock.advance(1000);
    expect((await cluster.admin.list('/test/ledgers/')).items).toEqual([]);
  });

  it('without anything of its own waits for the store', async () => {
    await begin();
    const node = cluster.create('n1', newDisk());
    node.cut();
    await expect(cluster.during(node.start())).rejects.toMatchObject({ code: 'AGENT_NOT_READY' });
  });

  it('with the state of an older time says which pods have addresses of others', async () => {
    const { clock } = await begin({ cidr: '10.0.0.0/28', borrowing: false });
    const disk = newDisk();
    const before = await cluster.join('n1', {}, disk);
    await before.add('p');
    await clock.advance(1000);
    await before.stop();
    await cluster.admin.delete(keys.nodeLease('n1'));
    await cluster.admin.delete(keys.block('10.0.0.0/28'));
    await cluster.join('n2');
    const after = await cluster.join('n1', {}, disk);
    expect(after.blocks).toEqual([]);
    expect(after.addressing.status().problems.join()).toMatch(/NODE_STATE_STALE.*10\.0\.0\.1 \(p\)/);
    await expect(cluster.during(after.add('q'))).rejects.toMatchObject({ code: 'POOL_EXHAUSTED' });
  });

  it('claims a block again that has no owner while pods are in it', async () => {
    const { clock } = await begin();
    const disk = newDisk();
    const before = await cluster.join('n1', {}, disk);
    await before.add('p');
    await clock.advance(1000);
    await before.stop();
    for (const { cidr } of await cluster.blocks()) await cluster.admin.delete(keys.block(cidr));
    const after = await cluster.join('n1', {}, disk);
    await clock.advance(2000);
    expect(after.blocks).toEqual(expect.arrayContaining(before.blocks));
    expect(after.ipam.foreignLeases()).toEqual([]);
    expect(after.addressing.status().problems).toEqual([]);
  });
});

describe('a node that is cut off', () => {
  it('hands out until it may not be trusted any more, and again when it is back', async () => {
    const { clock } = await begin();
    const node = await cluster.join('n1', { fenceAfter: 100_000 });
    await clock.advance(1000);
    node.cut();
    await node.add('a');
    await clock.advance(80_000);
    await node.add('b');
    await clock.advance(25_000);
    await expect(node.add('c')).rejects.toMatchObject({ code: 'NODE_FENCED' });
    await node.restore();
    await clock.advance(20_000);
    await node.add('c');
  });

  it.each(['forward', 'back'])('is not fooled by a wall clock that is set %s', async (direction) => {
    const { clock } = await begin();
    const node = await cluster.join('n1', { fenceAfter: 100_000 });
    await clock.advance(1000);
    node.cut();
    clock.jump(direction === 'forward' ? 200_000 : -200_000);
    if (direction === 'back') await clock.advance(101_000);
    await expect(node.add('c')).rejects.toMatchObject({ code: 'NODE_FENCED' });
    expect(node.addressing.status().fenced).toBe(true);
  });

  it('or whose name another agent has hands nothing out', async () => {
    const { clock } = await begin();
    const node = await cluster.join('n1');
    const other = cluster.create('n1', newDisk());
    await other.register();
    await clock.advance(100_000);
    await expect(node.add('a')).rejects.toThrow(/belongs to another agent/);
    await node.stop();
  });
});

describe('an imported block', () => {
  it('keeps its addresses in use until an operator releases them', async () => {
    const { clock } = await begin();
    const cidr = '10.0.0.32/28';
    const block: Block = { cidr, node: 'n1', state: 'confirmed', claimedAt: 1, loans: [] };
    await cluster.admin.put(keys.block(cidr), encodeObject(blockKind, block));
    const entry = (address: string) => ({ address, owner: `calico ${address}`, since: 1 });
    const entries = [entry('10.0.0.33'), entry('10.0.0.34')];
    const record = { cidr, node: 'n1', entries, reportedAt: 1 };
    await cluster.admin.put(keys.allocationRecord(cidr, 'n1'), encodeObject(allocationRecordKind, record));
    const disk = newDisk();
    const first = await cluster.join('n1', {}, disk);
    expect(await first.add('p')).toEqual(['10.0.0.32']);
    expect(await first.add('q')).toEqual(['10.0.0.35']);
    await clock.advance(2000);
    await first.stop();
    const node = await cluster.join('n1', {}, disk);
    await clock.advance(2000);
    await expect(node.add('r', { requested: ['10.0.0.33'] })).rejects.toThrow(
      'belongs to imported:calico 10.0.0.33:10.0.0.33',
    );
    const item = await cluster.admin.get(keys.allocationRecord(cidr, 'n1'));
    const now = decodeObject(allocationRecordKind, item!.key, item!.value);
    expect(now.entries.map(({ address }) => address)).toEqual([
      '10.0.0.32',
      '10.0.0.33',
      '10.0.0.34',
      '10.0.0.35',
    ]);
    const rest = now.entries.filter(({ address }) => address !== '10.0.0.33');
    await cluster.admin.put(item!.key, encodeObject(allocationRecordKind, { ...now, entries: rest }));
    await clock.advance(20_000);
    expect(await node.add('r', { requested: ['10.0.0.33'] })).toEqual(['10.0.0.33']);
  });
});
