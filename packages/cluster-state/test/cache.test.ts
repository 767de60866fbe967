import { silentLog } from '@podwire/platform';
import { encodeObject, type Store } from '@podwire/store';
import { createMemoryServer, type MemoryStore } from '@podwire/store/memory';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  type Block,
  blockKind,
  type ClusterCache,
  completePool,
  type CacheChange,
  keysBelow,
  openClusterCache,
  type Pool,
  poolKind,
} from '../src/index.js';
import { ObjectCache } from '../src/informer.js';

const keys = keysBelow('/podwire');
const patience = (): AbortSignal => AbortSignal.timeout(30_000);

const block = (cidr: string, node: string, loans: Block['loans'] = []): Block => ({
  cidr,
  node,
  instance: 'i',
  state: 'confirmed',
  claimedAt: 0,
  loans,
});

const pool = (name: string, cidr: string): Pool => completePool({ name, cidr });

let server: ReturnType<typeof createMemoryServer>;
let store: Store;
let follower: MemoryStore;
let cache: ClusterCache;
let changes: CacheChange[];

const putBlock = (value: Block) => store.put(keys.block(value.cidr), encodeObject(blockKind, value));
const putPool = (value: Pool) => store.put(keys.pool(value.name), encodeObject(poolKind, value));

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise(setImmediate);
}

async function open(): Promise<void> {
  follower = server.connect();
  cache = openClusterCache({ store: follower, keys, log: silentLog });
  changes = [];
  cache.onChange((change) => changes.push(change));
  await cache.synced;
}

beforeEach(() => {
  server = createMemoryServer();
  store = server.connect();
});
afterEach(() => cache.close());

describe('a cache of the cluster', () => {
  test('takes no pool and no block of everything, of loopback or multicast', async () => {
    const forge = (key: string, text: string, cidr: string, by: string): Promise<number> =>
      store.put(key, text.replace(JSON.stringify(cidr), JSON.stringify(by)));
    const good = { pool: pool('web', '10.1.0.0/16'), block: block('10.1.0.0/26', 'a') };
    await forge(keys.pool('web'), encodeObject(poolKind, good.pool), '10.1.0.0/16', '0.0.0.0/0');
    for (const cidr of ['0.0.0.0/1', '127.0.0.0/26', '224.0.0.0/26'])
      await forge(keys.block(cidr), encodeObject(blockKind, good.block), '10.1.0.0/26', cidr);
    await open();
    expect([cache.pools.size, cache.blocks.size, cache.blocksOf('a').length]).toEqual([0, 0, 0]);
    expect(cache.unreadable.size).toBe(4);
    expect([...cache.unreadable.values()].join()).toMatch(/loopback/);
  });

  test('refuses borrowed addresses outside their block', async () => {
    const loans = ['10.1.0.5', '10.1.0.64', '192.0.2.5'].map((address) => ({ address, node: 'b' }));
    await putBlock(block('10.1.0.0/26', 'a', loans));
    await open();
    expect(cache.borrowedBy('b')).toEqual(['10.1.0.5']);
  });

  test('starts with a snapshot and follows the watch', async () => {
    await putPool(pool('web', '10.1.0.0/16'));
    await putBlock(block('10.1.0.64/26', 'a'));
    await open();
    expect([...cache.pools.keys()]).toEqual(['web']);
    expect(cache.blocksOf('a')).toEqual(['10.1.0.64/26']);
    expect(cache.connected).toBe(true);

    await cache.reached(await putBlock(block('10.1.0.0/26', 'a')), patience());
    expect(cache.blocksOf('a')).toEqual(['10.1.0.0/26', '10.1.0.64/26']);
    expect([...changes.at(-1)!.blocks]).toEqual(['10.1.0.0/26']);
  });

  test('a block that changes its owner has one owner only', async () => {
    await putBlock(block('10.1.0.0/26', 'a', [{ address: '10.1.0.9', node: 'c' }]));
    await open();
    expect(cache.borrowedBy('c')).toEqual(['10.1.0.9']);
    await cache.reached(await putBlock(block('10.1.0.0/26', 'b')), patience());
    expect([cache.blocksOf('a'), cache.blocksOf('b'), cache.borrowedBy('c')]).toEqual([
      [],
      ['10.1.0.0/26'],
      [],
    ]);
  });

  test('an own write is visible at once, and older events of it are ignored', async () => {
    await open();
    follower.cut();
    await putBlock(block('10.1.0.0/26', 'a'));
    const value = block('10.1.0.0/26', 'b');
    const revision = await putBlock(value);
    cache.note(keys.block(value.cidr), value, revision);
    expect(cache.blocksOf('b')).toEqual(['10.1.0.0/26']);
    const seen: (readonly string[])[] = [];
    cache.onChange(() => seen.push(cache.blocksOf('b')));
    follower.restore();
    await cache.reached(revision, patience());
    expect(seen.length).toBeGreaterThan(0);
    expect(seen.every((blocks) => blocks.length === 1)).toBe(true);
  });

  test('an own deletion is not undone by older events', async () => {
    await open();
    follower.cut();
    const key = keys.block('10.1.0.0/26');
    const written = await putBlock(block('10.1.0.0/26', 'a'));
    await store.delete(key);
    cache.noteGone(key, written + 1);
    const seen: number[] = [];
    cache.onChange(() => seen.push(cache.blocks.size));
    follower.restore();
    await cache.reached(await putPool(pool('web', '10.1.0.0/16')), patience());
    expect(new Set(seen)).toEqual(new Set([0]));
  });

  test('a late note of an own write does not bring back a deleted object', async () => {
    await open();
    const value = block('10.1.0.0/26', 'a');
    const written = await putBlock(value);
    await store.delete(keys.block(value.cidr));
    await cache.reached(await putPool(pool('web', '10.1.0.0/16')), patience());
    cache.note(keys.block(value.cidr), value, written);
    expect(cache.blocks.size).toBe(0);
  });

  test('a tombstone is kept until the watch has passed its revision', () => {
    const cache = new ObjectCache({ kind: poolKind, nameOf: ({ name }) => name });
    cache.remove('/web', 5);
    cache.dropTombstones(4);
    expect(cache.put('/web', pool('web', '10.1.0.0/16'), 3)).toBeUndefined();
    cache.dropTombstones(5);
    expect(cache.put('/web', pool('web', '10.1.0.0/16'), 3)).toBe('web');
  });

  test('an object that cannot be decoded is reported, and the cached one stays', async () => {
    await putPool(pool('web', '10.1.0.0/16'));
    await open();
    await cache.reached(
      await store.put(keys.pool('web'), '{"kind":"pool","version":1,"value":{"name":"web","cidr":"x"}}'),
      patience(),
    );
    expect(cache.unreadable.get(keys.pool('web'))).toMatch(/value\./);
    expect(cache.pools.get('web')?.value.cidr).toBe('10.1.0.0/16');
    await cache.reached(await putPool(pool('web', '10.1.0.0/16')), patience());
    expect(cache.unreadable.size).toBe(0);
  });

  test('an object under another key is refused', async () => {
    await open();
    const text = encodeObject(blockKind, block('10.1.0.0/26', 'a'));
    await cache.reached(await store.put(keys.block('10.9.9.0/26'), text), patience());
    expect(cache.blocks.size).toBe(0);
    expect([...cache.unreadable.values()][0]).toMatch(/belongs to/);
  });

  test('finds the most specific pool of an address', async () => {
    await putPool(pool('wide', '10.1.0.0/16'));
    await putPool(pool('child', '10.1.128.0/17'));
    await open();
    expect(cache.poolAround('10.1.200.1')?.value.name).toBe('child');
    expect(cache.poolAround('10.1.3.0/26')?.value.name).toBe('wide');
    expect(cache.poolAround('10.2.0.1')).toBeUndefined();
  });

  test('a snapshot after compaction removes deleted objects', async () => {
    await putBlock(block('10.1.0.0/26', 'a'));
    await putBlock(block('10.1.0.64/26', 'a'));
    await open();
    follower.cut();
    await until(() => !cache.connected);
    await store.delete(keys.block('10.1.0.0/26'));
    const last = await putBlock(block('10.1.0.128/26', 'b'));
    server.compact();
    follower.restore();
    await cache.reached(last, patience());
    expect(cache.connected).toBe(true);
    expect([...cache.blocks.keys()].sort()).toEqual(['10.1.0.128/26', '10.1.0.64/26']);
  });

  test('waiting for a revision ends with its signal', async () => {
    await open();
    const stop = new AbortController();
    const waiting = cache.reached(1_000_000, stop.signal);
    stop.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
  });
});
