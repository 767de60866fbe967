import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { silentLog, systemClock } from '@podwire/platform';
import { open as openLmdb } from 'lmdb';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type EmbeddedOptions, type EmbeddedStore, openEmbeddedStore } from '../src/embedded/index.js';

let parent: string;
let directory: string;
let stores: EmbeddedStore[] = [];

beforeEach(() => {
  parent = fs.mkdtempSync(path.join(os.tmpdir(), 'pwt-embedded-'));
  directory = path.join(parent, 'a/store');
});
afterEach(async () => {
  await Promise.all(stores.map((store) => store.close()));
  stores = [];
  fs.rmSync(parent, { recursive: true });
});

async function open(options: Partial<EmbeddedOptions> = {}): Promise<EmbeddedStore> {
  const store = await openEmbeddedStore(directory, { log: silentLog, clock: systemClock, ...options });
  stores.push(store);
  return store;
}

/** Empty for one that is closed meanwhile. */
function readLinkOf(file: string): string {
  try {
    return fs.readlinkSync(file);
  } catch {
    return '';
  }
}

test('the directory is made, and is its owner’s alone', async () => {
  await open();
  expect(fs.statSync(directory).mode & 0o777).toBe(0o700);
});

test('a directory that was open to others is closed when it is a store, and refused when it is not', async () => {
  await (await open()).close();
  fs.chmodSync(directory, 0o755);
  await open();
  expect(fs.statSync(directory).mode & 0o777).toBe(0o700);
  directory = path.join(parent, 'other');
  fs.mkdirSync(directory, { mode: 0o755 });
  fs.writeFileSync(path.join(directory, 'notes'), 'x');
  await expect(open()).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  expect(fs.statSync(directory).mode & 0o777).toBe(0o755);
  directory = path.join(parent, 'other/notes/store');
  await expect(open()).rejects.toMatchObject({ code: expect.stringMatching(/^STORE_/) as string });
});

test('a store that must be there is not made', async () => {
  const none = { code: 'CONFIG_INVALID', message: `there is no store in ${directory}` };
  await expect(open({ create: false })).rejects.toMatchObject(none);
  expect(fs.existsSync(directory)).toBe(false);
  fs.mkdirSync(directory, { recursive: true });
  await expect(open({ create: false })).rejects.toMatchObject(none);
  expect(fs.readdirSync(directory)).toEqual([]);
  await (await open()).close();
  await open({ create: false });
});

test('what was written is there after it was closed and opened again, with its revisions', async () => {
  const first = await open();
  const revision = await first.put('/a', '1');
  await first.close();
  const second = await open();
  expect(await second.get('/a')).toEqual({ key: '/a', value: '1', revision });
  expect(await second.put('/a', '2', { expect: revision })).toBeGreaterThan(revision);
});

test('a store is opened while it is being closed', async () => {
  const first = await open();
  await first.put('/a', '1');
  const closed = first.close();
  const [second, third] = await Promise.all([open(), open()]);
  await closed;
  expect((await second.get('/a'))?.value).toBe('1');
  await second.close();
  expect(await third.put('/a', '2', { expect: (await third.get('/a'))?.revision ?? 0 })).toBeGreaterThan(0);
});

test('a store of a newer format is refused', async () => {
  await (await open()).close();
  const root = openLmdb({ path: directory, maxDbs: 8, encoding: 'json', overlappingSync: false });
  const meta = root.openDB<object, string>({ name: 'meta', encoding: 'json' });
  await meta.put('state', { ...meta.get('state'), format: 2 });
  await root.close();
  await expect(open()).rejects.toMatchObject({ code: 'OBJECT_TOO_NEW' });
  const files = fs.readdirSync('/proc/self/fd').map((fd) => readLinkOf(`/proc/self/fd/${fd}`));
  expect(files.filter((file) => file.startsWith(directory))).toEqual([]);
});

test('a store that is full takes no more, and deletions make room', async () => {
  const store = await open({ maxBytes: 1_000 });
  await store.put('/a', 'x'.repeat(600));
  await expect(store.put('/b', 'x'.repeat(600))).rejects.toMatchObject({ code: 'STORE_FULL' });
  expect(await store.get('/b')).toBeUndefined();
  await store.put('/a', 'y'.repeat(600));
  await store.delete('/a');
  await store.put('/b', 'x'.repeat(600));
});

test('leases follow the monotonic clock, and end when the machine starts', async () => {
  let now = 5_000;
  const first = await open({ now: () => now, boot: 'one' });
  const lease = await first.grantLease(1_000);
  await first.put('/a', '1', { lease: lease.id });
  now += 900;
  await lease.keepAlive();
  now += 900;
  expect(await first.get('/a')).toBeDefined();
  now += 100;
  expect(await first.get('/a')).toBeUndefined();
  await expect(lease.keepAlive()).rejects.toMatchObject({ code: 'STORE_LEASE_LOST' });
  const long = await first.grantLease(1_000_000);
  await first.put('/b', '1', { lease: long.id });
  await first.close();
  // Its clock has begun anew.
  now = 10;
  const second = await open({ now: () => now, boot: 'two' });
  expect(await second.get('/b')).toBeUndefined();
});

test('a watch learns of changes before the history with a snapshot, and of those in it one by one', async () => {
  const store = await open({ history: 3 });
  const revisions: number[] = [];
  for (const value of ['1', '2', '3', '4', '5']) revisions.push(await store.put('/a', value));
  const first = async (from: number | undefined) => {
    for await (const batch of store.watch('/a', {
      ...(from !== undefined && { from }),
      signal: new AbortController().signal,
    }))
      return batch;
    return undefined;
  };
  expect(await first(revisions[1])).toMatchObject({ type: 'changes', revision: revisions[2] });
  expect(await first(revisions[0])).toMatchObject({ type: 'snapshot', revision: revisions[4] });
});

test('a watch whose taker is far too slow goes on with a snapshot', { tags: ['long'] }, async () => {
  const store = await open();
  const over = new AbortController();
  const types: string[] = [];
  for await (const batch of store.watch('/', { signal: over.signal })) {
    types.push(batch.type);
    // More than are kept for him; each of them waits for the disk.
    if (types.length === 1) for (let index = 0; index < 1_100; index++) await store.put('/a', String(index));
    const last = batch.type === 'snapshot' ? batch.items[0] : batch.changes[0];
    if (last !== undefined && JSON.stringify(last).includes('"1099"')) break;
  }
  expect(types.filter((type) => type === 'snapshot')).toHaveLength(2);
});
