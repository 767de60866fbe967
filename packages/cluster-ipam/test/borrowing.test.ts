import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { blockKind } from '@podwire/cluster-state';
import {
  type CallOptions,
  decodeObject,
  encodeObject,
  type Store,
  type Transaction,
  type TransactionOutcome,
} from '@podwire/store';
import { withTransact, written } from './support/between.js';
import { keys, newDisk, TestCluster, type TestNode } from './support/cluster.js';

const cidr = '10.0.0.0/28';
let cluster: TestCluster;
let owner: TestNode;
let borrower: TestNode;

/** One block, which n1 has. */
beforeEach(async () => {
  cluster = new TestCluster();
  await cluster.putPool({ cidr });
  owner = await cluster.join('n1');
  borrower = await cluster.join('n2');
});
afterEach(() => cluster.close());

const add = (node: TestNode, name: string, request = {}): Promise<string[]> =>
  cluster.during(node.add(name, request), 50);

describe('a node that finds no free block', () => {
  it('borrows an address, which its owner gives to no other pod', async () => {
    const [address] = await add(borrower, 'b');
    expect(borrower.blocks).toEqual([`${address}/32`]);
    expect((await cluster.block(cidr))?.loans).toEqual([{ address, node: 'n2' }]);
    const all: string[] = [];
    for (let n = 0; n < 13; n++) all.push(...(await add(owner, `o${n}`)));
    expect(all).not.toContain(address);
    await expect(add(owner, 'more')).rejects.toMatchObject({ code: 'POOL_EXHAUSTED' });
    await expect(add(owner, 'it', { requested: [address] })).rejects.toThrow(
      `${address} of pool blue is lent to node n2`,
    );
    expect((await cluster.admin.list('/test/shared/loan-requests/')).items).toEqual([]);
  });

  it('returns what it has borrowed, and the owner has it again', async () => {
    const [address] = await add(borrower, 'b');
    borrower.remove('b');
    await cluster.clock.advance(60_000);
    expect((await cluster.block(cidr))?.loans).toEqual([]);
    expect(borrower.blocks).toEqual([]);
    expect(await add(owner, 'o', { requested: [address] })).toEqual([address]);
  });

  it('goes on with it after a restart, and so does the owner', async () => {
    const [address] = await add(borrower, 'b');
    await cluster.clock.advance(1_000);
    await Promise.all([owner.stop(), borrower.stop()]);
    owner = await cluster.join('n1', {}, owner.disk);
    borrower = cluster.create('n2', borrower.disk, { isAway: true });
    await cluster.during(borrower.start());
    expect(borrower.blocks).toEqual([`${address}/32`]);
    expect(borrower.ipam.foreignLeases()).toEqual([]);
    await expect(add(owner, 'o', { requested: [address] })).rejects.toThrow('lent to node n2');
    await borrower.restore();
    borrower.remove('b');
    await cluster.clock.advance(100_000);
    expect((await cluster.block(cidr))?.loans).toEqual([]);
  });

  it('gets an error when no owner grants an address', async () => {
    for (let n = 0; n < 14; n++) await add(owner, `o${n}`);
    await expect(add(borrower, 'b')).rejects.toThrow(/no free block, and no other node that was asked lends/);
    owner.remove('o3');
    await cluster.clock.advance(11_000);
    expect(await add(borrower, 'b')).toHaveLength(1);
  });

  it('does not borrow where the pool forbids it', async () => {
    await cluster.putPool({ cidr, borrowing: false });
    await expect(add(borrower, 'b')).rejects.toMatchObject({ code: 'POOL_EXHAUSTED' });
  });
});

describe('an owner that starts while the store is away', () => {
  const restartAway = async (): Promise<void> => {
    await owner.stop();
    owner = cluster.create('n1', owner.disk, { isAway: true });
    await cluster.during(owner.start());
  };

  it('hands out no address that is borrowed, and everything else', async () => {
    const granted = [
      ...(await add(borrower, 'a')),
      ...(await add(borrower, 'b')),
      ...(await add(borrower, 'c')),
    ];
    // The store confirms it, which writes the file anew.
    await cluster.clock.advance(100_000);
    await restartAway();
    const own: string[] = [];
    for (let n = 0; n < 11; n++) own.push(...(await add(owner, `o${n}`)));
    expect(own.filter((address) => granted.includes(address))).toEqual([]);
    await expect(add(owner, 'more')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  });

  it('has what was returned meanwhile when the store is back', async () => {
    const [address] = await add(borrower, 'a');
    await add(borrower, 'b');
    await owner.stop();
    borrower.remove('a');
    await cluster.clock.advance(60_000);
    await restartAway();
    await expect(add(owner, 'o', { requested: [address] })).rejects.toThrow('lent to node n2');
    await owner.restore();
    await cluster.clock.advance(10_000);
    expect(await add(owner, 'o', { requested: [address] })).toEqual([address]);
    expect(owner.ipam.borrowed()).toHaveLength(1);
  });

  it('hands out nothing as long as its file, of an older version, does not name its borrowed addresses', async () => {
    const [address] = await add(borrower, 'a');
    await add(owner, 'before');
    await cluster.clock.advance(1_000);
    await owner.stop();
    const { granted: _, ...file } = owner.disk.file!;
    owner.disk.file = { ...file, version: 1 };
    await restartAway();
    expect(owner.ipam.foreignLeases()).toEqual([]);
    await expect(add(owner, 'o')).rejects.toMatchObject({ code: 'NODE_FENCED' });
    // The file that this life has written meanwhile is no better.
    await restartAway();
    await expect(add(owner, 'o')).rejects.toMatchObject({ code: 'NODE_FENCED' });
    await owner.restore();
    await cluster.clock.advance(10_000);
    expect(await add(owner, 'o')).not.toEqual([address]);
  });
});

it('a borrowed address that is returned before its owner has heard that it was written is the owner’s again', async () => {
  await owner.stop();
  let hear = (): void => undefined;
  const heard = new Promise<void>((resolve) => (hear = resolve));
  const wrap = withTransact(async (transaction, options, store) => {
    const outcome = await store.transact(transaction, options);
    if (written(transaction, keys.block(cidr))?.includes('"loans":[{') === true) await heard;
    return outcome;
  });
  owner = await cluster.join('n1', { wrap }, owner.disk);
  await add(borrower, 'b');
  const item = await cluster.admin.get(keys.block(cidr));
  const block = decodeObject(blockKind, item!.key, item!.value);
  await cluster.admin.put(item!.key, encodeObject(blockKind, { ...block, loans: [] }));
  await cluster.clock.settle();
  hear();
  await cluster.clock.advance(1_000);
  expect(owner.ipam.borrowed()).toEqual([]);
});

describe('an address of another node’s block', () => {
  it('is borrowed by name', async () => {
    expect(await add(borrower, 'b', { requested: ['10.0.0.7'] })).toEqual(['10.0.0.7']);
  });

  it('is refused with the name of who has it', async () => {
    await add(owner, 'o', { requested: ['10.0.0.7'] });
    await expect(add(borrower, 'b', { requested: ['10.0.0.7'] })).rejects.toThrow(
      '10.0.0.7 of pool blue is in block 10.0.0.0/28 of node n1: 10.0.0.7 of pool blue belongs to o',
    );
  });

  it('is refused when the owner does not answer, and nothing is left of the question', async () => {
    owner.cut();
    await expect(add(borrower, 'b', { requested: ['10.0.0.7'] })).rejects.toThrow(
      'of node n1: which does not answer',
    );
    expect((await cluster.admin.list('/test/shared/loan-requests/')).items).toEqual([]);
    await owner.restore();
    await cluster.clock.advance(10_000);
    expect((await cluster.block(cidr))?.loans).toEqual([]);
    expect(await add(owner, 'o', { requested: ['10.0.0.7'] })).toEqual(['10.0.0.7']);
  });
});

describe('a request that its node could not take back', () => {
  const requests = async (): Promise<string[]> =>
    (await cluster.admin.list('/test/shared/loan-requests/')).items.map(({ key }) => key);

  /** The owner does not answer, and the store is away when the node has waited long enough. */
  async function askInVain(): Promise<void> {
    owner.cut();
    const adding = borrower.add('b', { requested: ['10.0.0.7'] }).catch(() => undefined);
    while ((await requests()).length === 0) await cluster.clock.advance(10);
    borrower.cut();
    await cluster.clock.advance(20_000);
    await adding;
    expect(await requests()).toHaveLength(1);
  }

  it('goes when the store is back', async () => {
    await askInVain();
    await borrower.restore();
    await cluster.clock.advance(20_000);
    expect(await requests()).toEqual([]);
  });

  it('goes also when the agent was started again meanwhile', async () => {
    await askInVain();
    await borrower.stop();
    borrower = await cluster.join('n2', {}, borrower.disk);
    await cluster.clock.advance(1_000);
    expect(await requests()).toEqual([]);
  });
});

it('an address that is granted by a write that arrives after its time is handed out by no other node', async () => {
  await owner.stop();
  let arrive = (): void => undefined;
  const arrived = new Promise<void>((resolve) => (arrive = resolve));
  let late: Promise<TransactionOutcome> | undefined;
  /** No grant has an answer in time; the first arrives in the end. */
  const transact = (
    store: Store,
    transaction: Transaction,
    { signal }: CallOptions,
  ): Promise<TransactionOutcome> => {
    const isGrant = transaction.writes.some(
      (write) => write.op === 'put' && write.value.includes('"loans":[{'),
    );
    if (!isGrant) return store.transact(transaction, { ...(signal && { signal }) });
    late ??= arrived.then(() => store.transact(transaction));
    return new Promise((_, reject) => {
      signal!.addEventListener('abort', () => reject(signal!.reason as Error), { once: true });
    });
  };
  const wrap = (store: Store): Store =>
    new Proxy(store, {
      get(target, property) {
        if (property === 'transact') return transact.bind(undefined, target);
        const value: unknown = Reflect.get(target, property);
        return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      },
    });
  owner = await cluster.join('n1', { wrap }, owner.disk);
  const adding = borrower.add('b').catch(() => undefined);
  while (late === undefined) await cluster.clock.advance(10);
  // Its question stays where it is.
  borrower.cut();
  await cluster.clock.advance(30_000);
  // One may be on its way.
  for (let n = 0; n < 13; n++) await add(owner, `o${n}`);
  arrive();
  await Promise.all([late, adding]);
  await cluster.clock.settle();
  const inUse = owner.ipam.leases().map(({ address }) => address);
  expect(inUse).toHaveLength(13);
  for (const { address } of (await cluster.block(cidr))!.loans) expect(inUse).not.toContain(address);
});

it('a block without an owner while an address of it is borrowed is claimed with its borrowed addresses', async () => {
  const [address] = await add(borrower, 'b');
  await owner.stop();
  await cluster.admin.delete(keys.nodeLease('n1'));
  const item = await cluster.admin.get(keys.block(cidr));
  const { node: _, instance: __, ...rest } = decodeObject(blockKind, item!.key, item!.value);
  await cluster.admin.put(item!.key, encodeObject(blockKind, rest));
  const third = await cluster.join('n3', {}, newDisk());
  expect(third.blocks).toEqual([cidr]);
  await expect(add(third, 'x', { requested: [address] })).rejects.toThrow('lent to node n2');
});
