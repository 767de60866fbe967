/** Answers that do not come. */
import assert from 'node:assert/strict';
import type { Revision, Store } from '../contract.js';
import { isUncertain } from '../failures.js';
import type { CaseContext, StoreCase } from './target.js';
import { assertFails, contents, put, write } from './tools.js';

async function withDeaf({ connectDeaf }: CaseContext, work: (deaf: Store) => Promise<void>): Promise<void> {
  const deaf = (await connectDeaf?.()) ?? assert.fail('the target has no connectDeaf');
  try {
    await work(deaf);
  } finally {
    await deaf.close();
  }
}

export const faultCases: readonly StoreCase[] = [
  {
    title: 'a write without an answer is uncertain; what it did is there, once',
    needs: ['lost answers'],
    run: (context) =>
      withDeaf(context, async (deaf) => {
        const { store, folder } = context;
        const error = await assertFails(
          () => deaf.put(`${folder}a`, '1', { expect: 'absent' }),
          'STORE_UNAVAILABLE',
        );
        assert.ok(isUncertain(error));
        const first = (await store.get(`${folder}a`)) ?? assert.fail('it was not done');
        assert.equal(first.value, '1');
        // Nothing tries it again behind the caller's back.
        await store.put(`${folder}later`, '1');
        assert.deepEqual(await store.get(`${folder}a`), first);
      }),
  },
  {
    title: 'a transaction without an answer is uncertain',
    needs: ['lost answers'],
    run: (context) =>
      withDeaf(context, async (deaf) => {
        const { store, folder } = context;
        const error = await assertFails(() => write(deaf, [put(`${folder}a`, '1')]), 'STORE_UNAVAILABLE');
        assert.ok(isUncertain(error));
        assert.deepEqual(await contents(store, folder), { a: '1' });
      }),
  },
  {
    title: 'what fails for certain without an answer has done nothing',
    needs: ['lost answers'],
    run: (context) =>
      withDeaf(context, async (deaf) => {
        const { store, folder } = context;
        const key = `${folder}a`;
        const writes: readonly ((revision: Revision) => Promise<unknown>)[] = [
          () => deaf.put(key, '2'),
          (expect) => deaf.put(key, '2', { expect }),
          () => deaf.delete(key),
          (expect) => deaf.delete(key, { expect }),
          () => deaf.transact({ conditions: [], writes: [{ op: 'delete', key }] }),
        ];
        for (const each of writes) {
          const before = await store.put(key, '1');
          const error = await assertFails(() => each(before), 'STORE_UNAVAILABLE');
          if (!isUncertain(error)) assert.equal((await store.get(key))?.revision, before, String(each));
        }
      }),
  },
  {
    title: 'a lease whose grant was not answered is uncertain',
    needs: ['lost answers'],
    run: (context) =>
      withDeaf(context, async (deaf) => {
        const error = await assertFails(() => deaf.grantLease(context.ttl), 'STORE_UNAVAILABLE');
        assert.ok(isUncertain(error));
      }),
  },
  {
    title: 'a question without an answer is not uncertain',
    needs: ['lost answers'],
    run: (context) =>
      withDeaf(context, async (deaf) => {
        const error = await assertFails(() => deaf.get(`${context.folder}a`), 'STORE_UNAVAILABLE');
        assert.ok(!isUncertain(error));
      }),
  },
  {
    title: 'a store that cannot be reached says so, and answers when it can be again',
    needs: ['interruption'],
    run: async ({ store, interrupt, folder }) => {
      await store.put(`${folder}a`, '1');
      const restore = await interrupt?.();
      await assertFails(() => store.get(`${folder}a`), 'STORE_UNAVAILABLE');
      await assertFails(() => store.put(`${folder}a`, '2'), 'STORE_UNAVAILABLE');
      await restore?.();
      assert.match((await store.get(`${folder}a`))?.value ?? '', /^[12]$/);
      await store.put(`${folder}a`, '3');
      assert.deepEqual(await contents(store, folder), { a: '3' });
    },
  },
];
