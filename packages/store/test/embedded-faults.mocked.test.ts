/** A database that fails in the middle of something. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { silentLog, systemClock } from '@podwire/platform';
import type * as Lmdb from 'lmdb';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import type { WatchBatch } from '../src/contract.js';
import { type EmbeddedStore, openEmbeddedStore } from '../src/embedded/index.js';

const roots: Lmdb.RootDatabase[] = [];
/** The database of the items is opened first. */
const tables: Lmdb.Database[] = [];

beforeEach(() => void [roots, tables].map((each) => each.splice(0)));

vi.mock('lmdb', async (importOriginal) => {
  const lmdb = await importOriginal<typeof Lmdb>();
  const open = (options: Lmdb.RootDatabaseOptionsWithPath): Lmdb.RootDatabase => {
    const root = lmdb.open(options);
    roots.push(root);
    const openDB = root.openDB.bind(root);
    root.openDB = ((given: Lmdb.DatabaseOptions & { name: string }) => {
      const table = openDB(given);
      tables.push(table);
      return table;
    }) as typeof root.openDB;
    return root;
  };
  return { ...lmdb, open };
});

async function openStore(): Promise<EmbeddedStore> {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'pwt-embedded-'));
  onTestFinished(() => fs.rmSync(directory, { recursive: true }));
  const place = path.join(directory, 'store');
  const store = await openEmbeddedStore(place, { log: silentLog, clock: systemClock });
  onTestFinished(() => store.close());
  return store;
}

test('a write whose commit fails is uncertain', async () => {
  const store = await openStore();
  const root = roots[0] ?? expect.fail('no database was opened');
  const transactionSync = root.transactionSync.bind(root);
  vi.spyOn(root, 'transactionSync').mockImplementationOnce((work) => {
    transactionSync(work);
    throw Object.assign(new Error('Input/output error'), { code: 5 });
  });
  await expect(store.put('/a', '1')).rejects.toMatchObject({
    code: 'STORE_UNAVAILABLE',
    details: { uncertain: true },
  });
  expect((await store.get('/a'))?.value).toBe('1');
});

test('a watch that needs a snapshot gets it although it could not be read at first', async () => {
  const store = await openStore();
  const log: string[] = [];
  const options = {
    signal: new AbortController().signal,
    onInterruption: () => void log.push('interrupted'),
    onRecovery: () => void log.push('recovered'),
  };
  const batches = store.watch('/', options)[Symbol.asyncIterator]();
  await batches.next();
  const items = tables[0] ?? expect.fail('no table was opened');
  vi.spyOn(items, 'getRange').mockImplementationOnce(() => {
    throw new Error('Input/output error');
  });
  // In one turn of the event loop, so that nothing reads in between.
  await Promise.all([store.put('/a', '1'), store.compact()]);
  const { value } = (await batches.next()) as IteratorYieldResult<WatchBatch>;
  expect(value).toMatchObject({ type: 'snapshot', items: [{ key: '/a', value: '1' }] });
  await expect.poll(() => log).toEqual(['interrupted', 'recovered']);
  await batches.return?.();
});
