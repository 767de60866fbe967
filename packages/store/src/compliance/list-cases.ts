/** Everything below a prefix. */
import assert from 'node:assert/strict';
import type { Store } from '../contract.js';
import type { StoreCase } from './target.js';
import { put, withWatch, write } from './tools.js';

const many = 5_000;

async function fill(store: Store, folder: string, value: string): Promise<void> {
  const writes = Array.from({ length: many }, (_, index) =>
    put(`${folder}${String(index).padStart(5, '0')}`, value),
  );
  const { operations } = store.limits;
  for (let at = 0; at < many; at += operations) await write(store, writes.slice(at, at + operations));
}

export const listCases: readonly StoreCase[] = [
  {
    title: 'a list is in order of keys, and has what begins with the prefix and nothing else',
    run: async ({ store, folder }) => {
      const keys = ['a/b', 'a/b/c', 'a/b/c/d', 'a/b-c', 'a/bc', 'a/B', 'a/c', 'ab', 'a~', 'b/a', 'a'];
      for (const key of keys) await store.put(`${folder}${key}`, key);
      const under = async (prefix: string) =>
        (await store.list(`${folder}${prefix}`)).items.map(({ value }) => value);
      assert.deepEqual(await under('a/b'), ['a/b', 'a/b-c', 'a/b/c', 'a/b/c/d', 'a/bc']);
      assert.deepEqual(await under('a/b/'), ['a/b/c', 'a/b/c/d']);
      assert.deepEqual(await under('a/'), ['a/B', 'a/b', 'a/b-c', 'a/b/c', 'a/b/c/d', 'a/bc', 'a/c']);
      assert.deepEqual(await under(''), keys.toSorted());
      assert.deepEqual(await under('a~'), ['a~']);
      assert.deepEqual(await under('c'), []);
      assert.ok((await store.list('')).items.some(({ key }) => key === `${folder}a/b`));
    },
  },
  {
    title: 'a list of nothing has a revision too, from which a watch misses nothing',
    run: async ({ store, folder }) => {
      const { items, revision: from } = await store.list(folder);
      assert.deepEqual(items, []);
      await store.put(`${folder}a`, '1');
      await withWatch(store, folder, { from }, (watch) =>
        watch.until('the item', (copy) => copy.get(`${folder}a`)?.value === '1'),
      );
    },
  },
  {
    title: 'a list of 5,000 items has all of them, as they were at one moment',
    run: async ({ store, another, folder }) => {
      await fill(store, folder, '0');
      const other = await another();
      const [first, last] = [
        `${folder}00000`,
        `${folder}${many - 1}`.replace(/(\d+)$/, (n) => n.padStart(5, '0')),
      ];
      let listing = true;
      const writing = (async () => {
        for (let round = 1; listing; round++)
          await write(other, [put(first, `${round}`), put(last, `${round}`)]);
      })();
      try {
        for (let round = 0; round < 5; round++) {
          const { items, revision } = await store.list(folder);
          assert.equal(items.length, many);
          assert.equal(items[0]?.value, items.at(-1)?.value, 'both were written together');
          assert.ok(items.every((item) => item.revision <= revision));
          assert.deepEqual(new Set(items.map(({ key }) => key)).size, many);
        }
      } finally {
        listing = false;
        await writing;
      }
    },
  },
];
