/** Single items. */
import assert from 'node:assert/strict';
import type { PodwireError } from '@podwire/errors';
import { isUncertain } from '../failures.js';
import { longestKey } from '../keys.js';
import type { CaseContext, StoreCase } from './target.js';
import { assertFails, contents, inTime, put } from './tools.js';

const oddKeys = [
  '',
  'a b',
  'a//b',
  'a/',
  '//a',
  '/',
  'ä',
  'a\n',
  'a/../b',
  '.',
  'a/.',
  'x'.repeat(longestKey + 1),
];
const fineKeys = ['%2F', '?q=1&r=2#f', '+~!$', 'a:b@c', '...', '"\\', '[{(<>)}]', '-a/_b/c.d'];

/** Adds one to the number at `key` by compare-and-set, so often. @returns how many attempts met a conflict */
async function countUp({ store }: CaseContext, client: CaseContext['store'], key: string, times: number) {
  let conflicts = 0;
  for (let done = 0; done < times;) {
    const item = (await client.get(key)) ?? assert.fail('it is gone');
    try {
      await client.put(key, String(Number(item.value) + 1), { expect: item.revision });
      done++;
    } catch (error) {
      if ((error as { code?: string }).code !== 'STORE_CONFLICT') throw error;
      assert.ok(!isUncertain(error), `a conflict is certain (${store.kind})`);
      conflicts++;
    }
  }
  return conflicts;
}

export const writeCases: readonly StoreCase[] = [
  {
    title: 'what was put is there, at the revision that was answered',
    run: async ({ store, folder }) => {
      assert.equal(await store.get(`${folder}a`), undefined);
      const revision = await store.put(`${folder}a`, 'one');
      assert.deepEqual(await store.get(`${folder}a`), { key: `${folder}a`, value: 'one', revision });
    },
  },
  {
    title: 'every write raises the revision, also one of the same text and one after a deletion',
    run: async ({ store, folder }) => {
      const first = await store.put(`${folder}a`, 'same');
      const second = await store.put(`${folder}a`, 'same');
      assert.ok(second > first);
      await store.delete(`${folder}a`);
      const third = await store.put(`${folder}a`, 'same', { expect: 'absent' });
      assert.ok(third > second);
      await assertFails(() => store.put(`${folder}a`, 'other', { expect: first }), 'STORE_CONFLICT');
    },
  },
  {
    title: 'a put that expects nothing there is refused when there is something',
    run: async ({ store, folder }) => {
      const revision = await store.put(`${folder}a`, 'first', { expect: 'absent' });
      const error = await assertFails(
        () => store.put(`${folder}a`, 'second', { expect: 'absent' }),
        'STORE_CONFLICT',
      );
      assert.match(error.message, /a was expected to be absent/);
      assert.deepEqual(await store.get(`${folder}a`), { key: `${folder}a`, value: 'first', revision });
    },
  },
  {
    title: 'a put that expects a revision is refused at any other, and where nothing is',
    run: async ({ store, folder }) => {
      const first = await store.put(`${folder}a`, '1');
      const second = await store.put(`${folder}a`, '2', { expect: first });
      await assertFails(() => store.put(`${folder}a`, '3', { expect: first }), 'STORE_CONFLICT');
      await assertFails(() => store.put(`${folder}none`, '3', { expect: second }), 'STORE_CONFLICT');
      assert.deepEqual(await contents(store, folder), { a: '2' });
    },
  },
  {
    title: 'delete says whether there was something, and heeds what it expects',
    run: async ({ store, folder }) => {
      assert.equal(await store.delete(`${folder}a`), false);
      const first = await store.put(`${folder}a`, '1');
      const second = await store.put(`${folder}a`, '2');
      await assertFails(() => store.delete(`${folder}a`, { expect: first }), 'STORE_CONFLICT');
      assert.equal(await store.delete(`${folder}a`, { expect: second }), true);
      await assertFails(() => store.delete(`${folder}a`, { expect: second }), 'STORE_CONFLICT');
      assert.equal(await store.get(`${folder}a`), undefined);
    },
  },
  {
    title: 'of many who create one item at once, one does',
    run: async ({ store, another, folder }) => {
      const clients = [store, await another(), await another()];
      for (const round of [1, 2, 3, 4, 5]) {
        const tries = Array.from({ length: 12 }, async (_, index) => {
          const client = clients[index % 3] ?? store;
          return client.put(`${folder}${round}`, String(index), { expect: 'absent' }).then(
            () => String(index),
            (error: unknown) => error,
          );
        });
        const results = await Promise.all(tries);
        const winners = results.filter((result) => typeof result === 'string');
        assert.equal(winners.length, 1);
        assert.equal((await store.get(`${folder}${round}`))?.value, winners[0]);
        for (const result of results)
          if (typeof result !== 'string') assert.equal((result as PodwireError).code, 'STORE_CONFLICT');
      }
    },
  },
  {
    title: 'numbers that are raised by compare-and-set from two sides lose nothing',
    run: async (context) => {
      const { store, another, folder } = context;
      await store.put(`${folder}count`, '0');
      const clients = [store, store, await another(), await another()];
      await Promise.all(clients.map((client) => countUp(context, client, `${folder}count`, 15)));
      assert.equal((await store.get(`${folder}count`))?.value, '60');
    },
  },
  {
    title: 'what one client was told is done, the other reads',
    run: async ({ store, another, folder }) => {
      const other = await another();
      for (let round = 0; round < 20; round++) {
        const revision = await store.put(`${folder}a`, String(round));
        assert.deepEqual(await other.get(`${folder}a`), {
          key: `${folder}a`,
          value: String(round),
          revision,
        });
        await other.delete(`${folder}a`);
        assert.equal(await store.get(`${folder}a`), undefined);
      }
    },
  },
  {
    title: 'values of any text come back as they were, up to the limit',
    run: async ({ store, folder }) => {
      const big = 'x'.repeat(store.limits.valueBytes);
      const wide = 'ü'.repeat(Math.floor(store.limits.valueBytes / 2));
      for (const value of ['', ' ', '\n\r\t', '\u0000', '"\\', 'grüße 日本 🙂', '\ufeffx', big, wide]) {
        await store.put(`${folder}a`, value);
        assert.ok((await store.get(`${folder}a`))?.value === value, `${value.slice(0, 20)} has changed`);
      }
      await store.put(`${folder}a`, 'small');
      await assertFails(() => store.put(`${folder}a`, `${big}x`), 'REQUEST_INVALID');
      await assertFails(() => store.put(`${folder}a`, `${wide}üü`), 'REQUEST_INVALID');
      await assertFails(() => store.put(`${folder}a`, 'half \ud83d pair'), 'REQUEST_INVALID');
      assert.deepEqual(await contents(store, folder), { a: 'small' });
    },
  },
  {
    title: 'keys that cannot be are refused by every call',
    run: async ({ store }) => {
      for (const key of oddKeys) {
        const calls = [
          () => store.get(key),
          () => store.put(key, 'x'),
          () => store.delete(key),
          () => store.transact({ conditions: [], writes: [put(key, 'x')] }),
          () => store.transact({ conditions: [{ key, expect: 'absent' }], writes: [] }),
        ];
        for (const call of calls) await assertFails(call, 'REQUEST_INVALID');
      }
      const signal = AbortSignal.abort();
      for (const prefix of ['a b', 'ä', 'a//b', 'x'.repeat(longestKey + 1)]) {
        await assertFails(() => store.list(prefix), 'REQUEST_INVALID');
        await assertFails(
          async () => store.watch(prefix, { signal })[Symbol.asyncIterator]().next(),
          'REQUEST_INVALID',
        );
      }
    },
  },
  {
    title: 'keys with signs in them, and long ones, are keys like others',
    run: async ({ store, folder }) => {
      const long = 'k'.repeat(longestKey - folder.length);
      const all = [...fineKeys, long];
      for (const key of all) await store.put(`${folder}${key}`, key);
      assert.deepEqual(await contents(store, folder), Object.fromEntries(all.map((key) => [key, key])));
      for (const key of all) assert.equal((await store.get(`${folder}${key}`))?.value, key);
      for (const key of all) assert.equal(await store.delete(`${folder}${key}`), true);
      assert.deepEqual(await contents(store, folder), {});
    },
  },
  {
    title: 'a call whose signal has aborted does nothing, and rejects with its reason',
    run: async ({ store, folder }) => {
      const reason = new Error('not wanted any more');
      const signal = AbortSignal.abort(reason);
      const calls = [
        () => store.get(`${folder}a`, { signal }),
        () => store.put(`${folder}a`, 'x', { signal }),
        () => store.delete(`${folder}a`, { signal }),
        () => store.transact({ conditions: [], writes: [put(`${folder}a`, 'x')] }, { signal }),
        () => store.list(folder, { signal }),
        () => store.grantLease(60_000, { signal }),
      ];
      for (const call of calls) await assert.rejects(call, (error) => error === reason);
      assert.deepEqual(await contents(store, folder), {});
    },
  },
  {
    title: 'a store that is closed answers no more, and may be closed again',
    run: async ({ another, folder }) => {
      const other = await another();
      await other.put(`${folder}a`, '1');
      await other.close();
      await other.close();
      const error = await assertFails(() => other.get(`${folder}a`), 'STORE_UNAVAILABLE');
      assert.ok(!isUncertain(error));
      await assertFails(() => other.put(`${folder}a`, '2'), 'STORE_UNAVAILABLE');
    },
  },
  {
    title: 'calls under way when their store is closed end; those that fail for certain have done nothing',
    run: async ({ store, another, folder }) => {
      const other = await another();
      await other.get(`${folder}a`);
      const names = ['a', 'b', 'c'];
      const writes = names.map((name) => outcomeOf(other.put(`${folder}${name}`, '1')));
      const reads = [outcomeOf(other.get(`${folder}a`)), outcomeOf(other.list(folder))];
      await other.close();
      const outcomes = await inTime('the end of all calls', Promise.all(writes));
      for (const [index, outcome] of outcomes.entries())
        if (outcome !== 'uncertain')
          assert.equal((await store.get(`${folder}${names[index]}`)) !== undefined, outcome === 'done');
      for (const outcome of await inTime('the end of all questions', Promise.all(reads)))
        assert.notEqual(outcome, 'uncertain');
    },
  },
];

async function outcomeOf(call: Promise<unknown>): Promise<'done' | 'refused' | 'uncertain'> {
  try {
    await call;
    return 'done';
  } catch (error) {
    assert.equal((error as PodwireError).code, 'STORE_UNAVAILABLE');
    return isUncertain(error) ? 'uncertain' : 'refused';
  }
}
