/** Another process on an embedded store. Arguments: the directory, what to do, and what that needs. Tells on standard output. */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { describeError, PodwireError } from '@podwire/errors';
import { silentLog, systemClock } from '@podwire/platform';
import type { Store } from '../../src/index.js';
import { openEmbeddedStore } from '../../src/embedded/index.js';

const tell = (line: string): void => void fs.writeSync(1, `${line}\n`);

/** Adds one to `/count`, so often. */
async function count(store: Store, times: number): Promise<void> {
  for (let done = 0; done < times;) {
    const item = await store.get('/count');
    const value = String(Number(item?.value ?? '0') + 1);
    const conditions = [{ key: '/count', expect: item?.revision ?? ('absent' as const) }];
    if ((await store.transact({ conditions, writes: [{ op: 'put', key: '/count', value }] })).committed)
      done++;
  }
  tell('done');
}

/** Writes `/a` and `/z` together until it is killed, and tells what is done. */
async function writePairs(store: Store): Promise<never> {
  for (let value = Number((await store.get('/a'))?.value ?? '0') + 1; ; value++) {
    const text = `${value}`.padEnd(2_000);
    const put = (key: string) => ({ op: 'put', key, value: text }) as const;
    await store.transact({ conditions: [], writes: [put('/a'), put(`/pairs/${value % 50}`), put('/z')] });
    tell(String(value));
  }
}

async function hold(store: Store, ttl: number): Promise<void> {
  const lease = await store.grantLease(ttl);
  await store.put('/held', 'x', { lease: lease.id });
  tell('held');
  await new Promise((resolve) => setTimeout(resolve, 60_000));
}

async function fill(store: Store): Promise<void> {
  let full: unknown;
  for (let index = 0; full === undefined; index++)
    await store.put(`/fill/${index}`, 'x'.repeat(20_000)).catch((error: unknown) => (full = error));
  tell(full instanceof PodwireError ? full.code : describeError(full));
  const { items } = await store.list('/fill/');
  for (const { key } of items) await store.delete(key);
  await store.put('/after', 'x');
  tell(`emptied ${items.length > 5}`);
}

const [directory = '', work, given = '0'] = process.argv.slice(2);
// In a mount namespace of its own (`unshare --mount`).
if (work === 'fill') execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', directory]);
const store = await openEmbeddedStore(directory, { log: silentLog, clock: systemClock });
if (work === 'count') await count(store, Number(given));
else if (work === 'pairs') await writePairs(store);
else if (work === 'hold') await hold(store, Number(given));
else if (work === 'fill') await fill(store);
await store.close();
