/** Several items at once. */
import assert from 'node:assert/strict';
import type { Store } from '../contract.js';
import type { StoreCase } from './target.js';
import { assertFails, contents, put, write } from './tools.js';

/** Moves one from an account to another, so often, by transactions that expect both to be unchanged. */
async function move(store: Store, from: string, to: string, times: number): Promise<void> {
  for (let done = 0; done < times;) {
    const [one, other] = await Promise.all([store.get(from), store.get(to)]);
    if (one === undefined || other === undefined) assert.fail('an account is gone');
    const outcome = await store.transact({
      conditions: [
        { key: from, expect: one.revision },
        { key: to, expect: other.revision },
      ],
      writes: [put(from, String(Number(one.value) - 1)), put(to, String(Number(other.value) + 1))],
    });
    if (outcome.committed) done++;
  }
}

export const transactionCases: readonly StoreCase[] = [
  {
    title: 'all writes of a transaction happen, at one revision',
    run: async ({ store, folder }) => {
      const gone = await store.put(`${folder}gone`, 'x');
      const outcome = await store.transact({
        conditions: [
          { key: `${folder}a`, expect: 'absent' },
          { key: `${folder}gone`, expect: gone },
        ],
        writes: [put(`${folder}a`, '1'), put(`${folder}b`, '2'), { op: 'delete', key: `${folder}gone` }],
      });
      assert.ok(outcome.committed && outcome.revision > gone);
      const { items } = await store.list(folder);
      const { revision } = outcome;
      assert.deepEqual(items, [
        { key: `${folder}a`, value: '1', revision },
        { key: `${folder}b`, value: '2', revision },
      ]);
    },
  },
  {
    title: 'when one condition does not hold nothing happens, and what is at each of them is answered',
    run: async ({ store, folder }) => {
      const revision = await store.put(`${folder}a`, '1');
      const outcome = await store.transact({
        conditions: [
          { key: `${folder}none`, expect: 'absent' },
          { key: `${folder}a`, expect: 'absent' },
          { key: `${folder}b`, expect: 'absent' },
        ],
        writes: [put(`${folder}b`, '2'), { op: 'delete', key: `${folder}a` }],
      });
      const found = { key: `${folder}a`, value: '1', revision };
      assert.deepEqual(outcome, { committed: false, found: [undefined, found, undefined] });
      assert.deepEqual(await contents(store, folder), { a: '1' });
    },
  },
  {
    title: 'a revision that is expected where nothing is does not hold',
    run: async ({ store, folder }) => {
      const revision = await store.put(`${folder}a`, '1');
      const conditions = [{ key: `${folder}none`, expect: revision }];
      const outcome = await store.transact({ conditions, writes: [put(`${folder}b`, '2')] });
      assert.deepEqual(outcome, { committed: false, found: [undefined] });
      assert.deepEqual(await contents(store, folder), { a: '1' });
    },
  },
  {
    title: 'conditions may be about items that are not written',
    run: async ({ store, folder }) => {
      const pool = await store.put(`${folder}pool`, 'p');
      const claim = (key: string) =>
        store.transact({
          conditions: [
            { key: `${folder}pool`, expect: pool },
            { key: `${folder}${key}`, expect: 'absent' },
          ],
          writes: [put(`${folder}${key}`, 'mine')],
        });
      assert.equal((await claim('a')).committed, true);
      await store.put(`${folder}pool`, 'p');
      assert.equal((await claim('b')).committed, false);
      assert.deepEqual(await contents(store, folder), { a: 'mine', pool: 'p' });
    },
  },
  {
    title:
      'conditions alone are answered, nothing at all is well, and what is not there is deleted without error',
    run: async ({ store, folder }) => {
      const revision = await store.put(`${folder}a`, '1');
      const ask = (expect: 'absent' | number) =>
        store.transact({ conditions: [{ key: `${folder}a`, expect }], writes: [] });
      assert.equal((await ask(revision)).committed, true);
      assert.equal((await ask('absent')).committed, false);
      assert.equal((await store.transact({ conditions: [], writes: [] })).committed, true);
      await write(store, [{ op: 'delete', key: `${folder}none` }]);
      assert.deepEqual(await store.get(`${folder}a`), { key: `${folder}a`, value: '1', revision });
    },
  },
  {
    title: 'as many conditions and writes as the limit says are taken; one more is refused whole',
    run: async ({ store, folder }) => {
      const { operations } = store.limits;
      const keys = Array.from({ length: operations + 1 }, (_, index) => `${folder}${index}`);
      const conditions = keys.map((key) => ({ key, expect: 'absent' as const }));
      const writes = keys.map((key) => put(key, 'x'));
      const tooMuch = [
        { conditions, writes: writes.slice(1) },
        { conditions: [], writes },
      ];
      for (const each of tooMuch) {
        const error = await assertFails(() => store.transact(each), 'REQUEST_INVALID');
        assert.match(error.message, new RegExp(`\\b${operations}\\b`));
      }
      assert.deepEqual(await contents(store, folder), {});
      const most = { conditions: conditions.slice(1), writes: writes.slice(1) };
      assert.equal((await store.transact(most)).committed, true);
      assert.equal(Object.keys(await contents(store, folder)).length, operations);
    },
  },
  {
    title: 'an item is written once at most',
    run: async ({ store, folder }) => {
      const key = `${folder}a`;
      for (const second of [put(key, '2'), { op: 'delete', key } as const])
        await assertFails(
          () => store.transact({ conditions: [], writes: [put(key, '1'), second] }),
          'REQUEST_INVALID',
        );
      assert.deepEqual(await contents(store, folder), {});
    },
  },
  {
    title: 'what is moved between items from two sides is neither lost nor doubled, at any moment',
    run: async ({ store, another, folder }) => {
      const [a, b] = [`${folder}a`, `${folder}z/b`];
      await write(store, [put(a, '50'), put(b, '50')]);
      const others = [store, await another(), await another()];
      let moving = true;
      const watching = (async () => {
        for (let looks = 0; moving; looks++) {
          const { items } = await store.list(folder);
          const sum = items.reduce((total, { value }) => total + Number(value), 0);
          assert.equal(sum, 100, `look ${looks}`);
        }
      })();
      const moves = others.map((client, index) =>
        index === 0 ? move(client, a, b, 12) : move(client, b, a, 12),
      );
      await Promise.all(moves).finally(() => (moving = false));
      await watching;
      assert.deepEqual(await contents(store, folder), { a: '62', 'z/b': '38' });
    },
  },
];
