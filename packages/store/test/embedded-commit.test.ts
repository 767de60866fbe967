/** A disk that fails in the middle of a commit. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { silentLog, systemClock } from '@podwire/rim';
import type * as Lmdb from 'lmdb';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openEmbeddedStore } from '../src/embedded/index.js';

const roots: Lmdb.RootDatabase[] = [];

vi.mock('lmdb', async (importOriginal) => {
  const lmdb = await importOriginal<typeof Lmdb>();
  const open = (options: Lmdb.RootDatabaseOptionsWithPath): Lmdb.RootDatabase => {
    const root = lmdb.open(options);
    roots.push(root);
    return root;
  };
  return { ...lmdb, open };
});

test('a write whose commit fails is uncertain', async () => {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'pwt-embedded-'));
  onTestFinished(() => fs.rmSync(directory, { recursive: true }));
  const place = path.join(directory, 'store');
  const store = await openEmbeddedStore(place, { log: silentLog, clock: systemClock });
  onTestFinished(() => store.close());
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
