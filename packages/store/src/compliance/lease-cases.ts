/** Items that go with their lease. */
import assert from 'node:assert/strict';
import { isUncertain } from '../failures.js';
import type { CaseContext, StoreCase } from './target.js';
import { assertFails, contents, openWatch, pause, put, until, withWatch, write } from './tools.js';

const absent = async ({ store }: CaseContext, key: string): Promise<boolean> =>
  (await store.get(key)) === undefined;

export const leaseCases: readonly StoreCase[] = [
  {
    title: 'a lease is as long as was asked for or longer, and its items name it',
    run: async ({ store, folder }) => {
      const lease = await store.grantLease(60_000);
      assert.ok(lease.ttl >= 60_000);
      const revision = await store.put(`${folder}a`, '1', { lease: lease.id });
      assert.deepEqual(await store.get(`${folder}a`), {
        key: `${folder}a`,
        value: '1',
        revision,
        lease: lease.id,
      });
      await lease.keepAlive();
      await lease.revoke();
    },
  },
  {
    title: 'with a lease that is revoked go its items, and no others',
    run: async ({ store, another, folder }) => {
      const [one, two] = [await store.grantLease(60_000), await store.grantLease(60_000)];
      await write(store, [
        put(`${folder}a`, '1', one.id),
        put(`${folder}b`, '2', one.id),
        put(`${folder}c`, '3', two.id),
        put(`${folder}d`, '4'),
      ]);
      await withWatch(await another(), folder, {}, async (watch) => {
        await watch.snapshot();
        await one.revoke();
        assert.deepEqual(await contents(store, folder), { c: '3', d: '4' });
        await watch.until('the deletions', (copy) => copy.size === 2);
      });
      await two.revoke();
    },
  },
  {
    title: 'a lease that has ended is not kept alive, binds nothing, and may be revoked again',
    run: async ({ store, folder }) => {
      const lease = await store.grantLease(60_000);
      await lease.revoke();
      await lease.revoke();
      const error = await assertFails(() => lease.keepAlive(), 'STORE_LEASE_LOST');
      assert.ok(!isUncertain(error));
      await assertFails(() => store.put(`${folder}a`, '1', { lease: lease.id }), 'STORE_LEASE_LOST');
      await assertFails(() => write(store, [put(`${folder}a`, '1', lease.id)]), 'STORE_LEASE_LOST');
      assert.deepEqual(await contents(store, folder), {});
    },
  },
  {
    title: 'a lease ends unless it is kept alive',
    run: async (context) => {
      const { store, another, folder, ttl } = context;
      const [left, kept] = [await store.grantLease(ttl), await store.grantLease(ttl)];
      await write(store, [put(`${folder}left`, '1', left.id), put(`${folder}kept`, '1', kept.id)]);
      const watch = openWatch(await another(), folder);
      await watch.snapshot();
      const step = Math.floor(kept.ttl / 5);
      for (let steps = 0; !(await absent(context, `${folder}left`)); steps++) {
        assert.ok(steps < 60, 'it does not end');
        await pause(context, step);
        await kept.keepAlive();
      }
      await watch.until('the deletion', (copy) => !copy.has(`${folder}left`));
      assert.deepEqual(await contents(store, folder), { kept: '1' });
      await assertFails(() => left.keepAlive(), 'STORE_LEASE_LOST');
      await watch.end();
      await kept.revoke();
    },
  },
  {
    title: 'a lease outlives the client that took it, and ends in its time',
    run: async (context) => {
      const { store, another, folder, ttl } = context;
      const other = await another();
      const lease = await other.grantLease(ttl);
      await other.put(`${folder}a`, '1', { lease: lease.id });
      await other.close();
      assert.deepEqual(await contents(store, folder), { a: '1' });
      await until(context, 'the end of the lease', () => absent(context, `${folder}a`));
    },
  },
  {
    title: 'a put binds an item anew: to another lease, or to none',
    run: async ({ store, folder }) => {
      const [one, two] = [await store.grantLease(60_000), await store.grantLease(60_000)];
      for (const name of ['free', 'moved', 'stays'])
        await store.put(`${folder}${name}`, '1', { lease: one.id });
      await store.put(`${folder}free`, '2');
      await store.put(`${folder}moved`, '2', { lease: two.id });
      await one.revoke();
      assert.deepEqual(await contents(store, folder), { free: '2', moved: '2' });
      await two.revoke();
      assert.deepEqual(await contents(store, folder), { free: '2' });
    },
  },
  {
    title: 'an item that was deleted and made again is not touched by the end of the lease it had',
    run: async ({ store, folder }) => {
      const lease = await store.grantLease(60_000);
      await store.put(`${folder}a`, '1', { lease: lease.id });
      await store.delete(`${folder}a`);
      await store.put(`${folder}a`, '2');
      await lease.revoke();
      assert.deepEqual(await contents(store, folder), { a: '2' });
    },
  },
  {
    title: 'a transaction that finds a lease gone does nothing',
    run: async ({ store, folder }) => {
      const [gone, held] = [await store.grantLease(60_000), await store.grantLease(60_000)];
      await gone.revoke();
      await assertFails(
        () => write(store, [put(`${folder}a`, '1', held.id), put(`${folder}b`, '1', gone.id)]),
        'STORE_LEASE_LOST',
      );
      assert.deepEqual(await contents(store, folder), {});
      await held.revoke();
    },
  },
];
