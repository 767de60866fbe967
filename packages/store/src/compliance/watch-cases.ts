/** Cases of watches. */
import assert from 'node:assert/strict';
import type { Change, Item, Store } from '../contract.js';
import type { StoreCase } from './target.js';
import { byName, inTime, openWatch, put, withWatch, write } from './tools.js';

const brief = (folder: string, changes: readonly Change[]): readonly string[] =>
  changes.map((change) =>
    change.type === 'put'
      ? `${change.item.key.slice(folder.length)}=${change.item.value}`
      : `-${change.key.slice(folder.length)}`,
  );

const has =
  (folder: string, wanted: Readonly<Record<string, string>>) =>
  (copy: ReadonlyMap<string, Item>): boolean => {
    const is = byName(folder, copy.values());
    const names = Object.keys(wanted);
    return Object.keys(is).length === names.length && names.every((name) => is[name] === wanted[name]);
  };

/** Asserts that a watch has ended. */
async function assertEnds(iterator: AsyncIterator<unknown>): Promise<void> {
  const { done } = await inTime('the end of the watch', iterator.next());
  assert.equal(done, true);
}

async function catchUp(store: Store, folder: string): Promise<void> {
  await write(store, [put(`${folder}b`, '2'), { op: 'delete', key: `${folder}a` }]);
  await store.put(`${folder}c`, '3');
}

export const watchCases: readonly StoreCase[] = [
  {
    title: 'a watch begins with a snapshot, and goes on with what changes',
    run: async ({ store, another, folder }) => {
      const revision = await store.put(`${folder}a`, '1');
      await withWatch(await another(), folder, {}, async (watch) => {
        assert.deepEqual(await watch.snapshot(), [{ key: `${folder}a`, value: '1', revision }]);
        const second = await store.put(`${folder}b`, '2');
        const [change] = await watch.changes(1);
        assert.deepEqual(change, {
          type: 'put',
          item: { key: `${folder}b`, value: '2', revision: second },
        });
        await store.delete(`${folder}a`);
        const [deletion] = await watch.changes(1);
        assert.ok(deletion?.type === 'delete' && deletion.key === `${folder}a`);
        assert.ok(deletion.revision > second);
      });
    },
  },
  {
    title: 'the snapshot of a folder where nothing is has nothing',
    run: ({ store, folder }) =>
      withWatch(store, folder, {}, async (watch) => {
        assert.deepEqual(await watch.snapshot(), []);
        await store.put(`${folder}a`, '1');
        await watch.until('the item', has(folder, { a: '1' }));
      }),
  },
  {
    title: 'a watch from a revision tells what came after it',
    run: async ({ store, folder }) => {
      await store.put(`${folder}a`, '1');
      const { revision: from } = await store.list(folder);
      await catchUp(store, folder);
      await withWatch(store, folder, { from }, async (watch) => {
        await watch.until('what came after', has(folder, { b: '2', c: '3' }));
        await store.put(`${folder}d`, '4');
        await watch.until('what comes', has(folder, { b: '2', c: '3', d: '4' }));
      });
    },
  },
  {
    title: 'a watch from a revision tells every change after it, and none before',
    needs: ['history'],
    run: async ({ store, folder }) => {
      await store.put(`${folder}a`, '0');
      const from = await store.put(`${folder}a`, '1');
      await store.put(`${folder}a`, '2');
      await catchUp(store, folder);
      await store.put(`${folder}a`, '3');
      await withWatch(store, folder, { from }, async (watch) => {
        const changes = await watch.changes(5);
        assert.deepEqual([...brief(folder, changes)].sort(), ['-a', 'a=2', 'a=3', 'b=2', 'c=3']);
        const ofA = changes.filter((change) =>
          (change.type === 'put' ? change.item : change).key.endsWith('a'),
        );
        assert.deepEqual(brief(folder, ofA), ['a=2', '-a', 'a=3']);
      });
    },
  },
  {
    title: 'changes come in their order, each of them',
    needs: ['history'],
    run: async ({ store, another, folder }) => {
      const other = await another();
      await withWatch(store, folder, {}, async (watch) => {
        await watch.snapshot();
        const expected: string[] = [];
        for (let round = 0; round < 40; round++) {
          await (round % 2 === 0 ? store : other).put(`${folder}${round % 3}`, String(round));
          expected.push(`${round % 3}=${round}`);
        }
        assert.deepEqual(brief(folder, await watch.changes(40)), expected);
      });
    },
  },
  {
    title: 'all changes of one transaction come in one batch',
    run: ({ store, another, folder }) =>
      withWatch(store, folder, {}, async (watch) => {
        await watch.snapshot();
        const other = await another();
        const writes = Math.min(store.limits.operations, 30);
        for (let round = 0; round < 10; round++) {
          const names = Array.from({ length: writes }, (_, index) => `${folder}${index}`);
          const revision = await write(
            other,
            names.map((key) => put(key, String(round))),
          );
          let seen = 0;
          while (seen < revision) {
            seen = (await watch.next()).revision;
            const values = new Set(Object.values(byName(folder, watch.copy.values())));
            assert.ok(values.size <= 1, `${[...values].join(' and ')} at once`);
          }
        }
      }),
  },
  {
    title: 'a watch tells of what begins with its prefix and of nothing else',
    run: async ({ store, folder }) => {
      const textual = openWatch(store, `${folder}a/b`);
      const below = openWatch(store, `${folder}a/b/`);
      await textual.snapshot();
      await below.snapshot();
      for (const key of ['a/b', 'a/bc', 'a/b/c', 'a/c', 'ab', 'a/b-', 'end'])
        await store.put(`${folder}${key}`, key);
      await store.put(`${folder}a/b/z`, 'last');
      const sees = (copy: ReadonlyMap<string, Item>) => copy.has(`${folder}a/b/z`);
      await Promise.all([textual.until('the last', sees), below.until('the last', sees)]);
      const names = (watch: typeof below) => Object.keys(byName(folder, watch.copy.values())).sort();
      assert.deepEqual(names(textual), ['a/b', 'a/b-', 'a/b/c', 'a/b/z', 'a/bc']);
      assert.deepEqual(names(below), ['a/b/c', 'a/b/z']);
      await Promise.all([textual.end(), below.end()]);
    },
  },
  {
    title: 'many watches of one client are told the same',
    run: async ({ store, another, folder }) => {
      const watches = Array.from({ length: 30 }, () => openWatch(store, folder));
      await Promise.all(watches.map((watch) => watch.snapshot()));
      const other = await another();
      await write(other, [put(`${folder}a`, '1'), put(`${folder}b`, '2')]);
      await Promise.all(watches.map((watch) => watch.until('both', has(folder, { a: '1', b: '2' }))));
      await Promise.all(watches.slice(1).map((watch) => watch.end()));
      await other.put(`${folder}c`, '3');
      await watches[0]?.until('the third', has(folder, { a: '1', b: '2', c: '3' }));
      await watches[0]?.end();
    },
  },
  {
    title: 'who takes late gets there all the same',
    run: ({ store, another, folder }) =>
      withWatch(store, folder, {}, async (watch) => {
        await watch.snapshot();
        const other = await another();
        for (let round = 0; round < 400; round++) await other.put(`${folder}${round % 7}`, String(round));
        await other.delete(`${folder}0`);
        const wanted = { 1: '393', 2: '394', 3: '395', 4: '396', 5: '397', 6: '398' };
        await watch.until('the last of all', has(folder, wanted));
      }),
  },
  {
    title: 'a watch from a revision that the store does not have yet begins with a snapshot',
    run: async ({ store, folder }) => {
      const revision = await store.put(`${folder}a`, '1');
      await withWatch(store, folder, { from: revision + 1_000_000 }, async (watch) => {
        assert.deepEqual(await watch.snapshot(), [{ key: `${folder}a`, value: '1', revision }]);
        await store.put(`${folder}b`, '2');
        await watch.until('what comes', has(folder, { a: '1', b: '2' }));
      });
    },
  },
  {
    title: 'a watch from a revision that the store has forgotten begins with a snapshot',
    needs: ['compaction'],
    run: async ({ store, compact, folder }) => {
      const from = await store.put(`${folder}a`, '1');
      await catchUp(store, folder);
      await compact?.();
      await withWatch(store, folder, { from }, async (watch) => {
        assert.deepEqual(byName(folder, await watch.snapshot()), { b: '2', c: '3' });
        await store.put(`${folder}d`, '4');
        await watch.until('what comes', has(folder, { b: '2', c: '3', d: '4' }));
      });
    },
  },
  {
    title: 'a watch that goes on is not disturbed when the past is forgotten',
    needs: ['compaction'],
    run: ({ store, compact, folder }) =>
      withWatch(store, folder, {}, async (watch) => {
        await watch.snapshot();
        await store.put(`${folder}a`, '1');
        await compact?.();
        await store.put(`${folder}b`, '2');
        await watch.until('both', has(folder, { a: '1', b: '2' }));
      }),
  },
  {
    title: 'a watch that is cut off says so, comes back, and has missed nothing',
    needs: ['interruption'],
    run: async ({ store, another, interrupt, folder }) => {
      const other = await another();
      await store.put(`${folder}a`, '1');
      const news: string[] = [];
      let tell = (): void => undefined;
      const interruption = new Promise<void>((resolve) => (tell = resolve));
      let back = (): void => undefined;
      const recovery = new Promise<void>((resolve) => (back = resolve));
      const onInterruption = (error: unknown): void => {
        assert.ok(error instanceof Error);
        news.push('interruption');
        tell();
      };
      const onRecovery = (): void => {
        news.push('recovery');
        back();
      };
      await withWatch(store, folder, { onInterruption, onRecovery }, async (watch) => {
        await watch.snapshot();
        const restore = await interrupt?.();
        await inTime('the interruption', interruption);
        await catchUp(other, folder);
        await restore?.();
        await watch.until('what was missed', has(folder, { b: '2', c: '3' }));
        await inTime('the recovery', recovery);
        assert.deepEqual(news, ['interruption', 'recovery']);
        await other.put(`${folder}d`, '4');
        await watch.until('what comes', has(folder, { b: '2', c: '3', d: '4' }));
      });
    },
  },
  {
    title: 'a watch that was cut off while the past was forgotten goes on with a snapshot',
    needs: ['interruption', 'compaction'],
    run: async ({ store, another, interrupt, compact, folder }) => {
      const other = await another();
      await store.put(`${folder}a`, '1');
      await withWatch(store, folder, {}, async (watch) => {
        await watch.snapshot();
        const restore = await interrupt?.();
        await catchUp(other, folder);
        await compact?.();
        await restore?.();
        await watch.until('what is there now', has(folder, { b: '2', c: '3' }));
      });
    },
  },
  {
    title: 'a watch ends with its signal, also one that had aborted before',
    run: async ({ store, folder }) => {
      const over = new AbortController();
      const iterator = store.watch(folder, { signal: over.signal })[Symbol.asyncIterator]();
      await inTime('the snapshot', iterator.next());
      const pending = iterator.next();
      over.abort();
      assert.equal((await inTime('the end', pending)).done, true);
      await assertEnds(iterator);
      await assertEnds(store.watch(folder, { signal: over.signal })[Symbol.asyncIterator]());
    },
  },
  {
    title: 'a watch ends when its taker leaves the loop',
    run: async ({ store, folder }) => {
      const { signal } = new AbortController();
      const watch = store.watch(folder, { signal });
      for await (const { type } of watch) {
        assert.equal(type, 'snapshot');
        break;
      }
      await assertEnds(watch[Symbol.asyncIterator]());
    },
  },
  {
    title: 'closing a store ends its own watches only',
    run: async ({ store, another, folder }) => {
      const other = await another();
      const { signal } = new AbortController();
      const iterator = other.watch(folder, { signal })[Symbol.asyncIterator]();
      await inTime('the snapshot', iterator.next());
      const pending = iterator.next();
      await withWatch(store, folder, {}, async (watch) => {
        await watch.snapshot();
        await other.close();
        assert.equal((await inTime('the end', pending)).done, true);
        await store.put(`${folder}a`, '1');
        await watch.until('the item', has(folder, { a: '1' }));
      });
    },
  },
  {
    title: 'a watch whose first batch is asked for when the store is closed has none',
    run: async ({ another, folder }) => {
      const other = await another();
      const iterator = other.watch(folder, { signal: new AbortController().signal })[Symbol.asyncIterator]();
      await other.close();
      await assertEnds(iterator);
    },
  },
  {
    title: 'a watch that is given up before its first batch is over',
    run: async ({ store, folder }) => {
      const iterator = store.watch(folder, { signal: new AbortController().signal })[Symbol.asyncIterator]();
      await iterator.return?.();
      await assertEnds(iterator);
    },
  },
];
