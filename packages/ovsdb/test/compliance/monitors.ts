/** Caches that follow a database. */
import assert from 'node:assert/strict';
import type { AnyDatabase, CacheEvent, OvsdbClient, Row } from '@podwire/ovsdb';
import { assertSame, type Case, insertChild, insertParent, select } from './environment.js';

type Values = AnyDatabase[string]['values'];

const update = (name: string, row: Values) =>
  ({ op: 'update', table: 'Parent', where: [['name', '==', name]], row }) as const;

/** Names of the rows of a cache or of a change. */
const namesOf = (rows: Iterable<Row>): readonly unknown[] => [...rows].map(({ name }) => name);

const describe = ({ cause, changes }: CacheEvent): string =>
  `${cause}: ${changes
    .map((change) => `${change.type} ${change.table}`)
    .sort()
    .join(', ')}`;

/** The content of a cache must be that of the database. */
async function assertFollows(client: OvsdbClient, rows: Iterable<Row>, table: string): Promise<void> {
  const [first, ...others] = [...rows];
  const columns = Object.keys(first ?? { _uuid: '' });
  assertSame(first === undefined ? [] : [first, ...others], await select(client, table, columns));
}

export const monitorCases: readonly Case[] = [
  {
    name: 'a cache has what is there, and after an own transaction its changes at once',
    run: async ({ client }) => {
      await client.transact([insertParent('a', { count: 1, tags: { k: '1' } })]);
      const cache = await client.monitor({ Parent: {} });
      await assertFollows(client, cache.rows('Parent').values(), 'Parent');
      const [{ uuid }] = await client.transact([
        { op: 'insert', table: 'Parent', row: { name: 'b', count: 2 } },
      ]);
      assert.equal(cache.get('Parent', uuid)?.['count'], 2);
      await client.transact([update('b', { count: 3 })]);
      assert.equal(cache.get('Parent', uuid)?.['count'], 3);
      await client.transact([{ op: 'delete', table: 'Parent', where: [['_uuid', '==', uuid]] }]);
      assert.equal(cache.get('Parent', uuid), undefined);
    },
  },
  {
    name: 'a cache follows changes of each kind of column',
    run: async ({ client }) => {
      const cache = await client.monitor({ Parent: {}, Child: {} });
      await client.transact([
        insertParent('a', { children: [{ namedUuid: 'c' }] }),
        insertChild('c'),
        insertParent('b'),
      ]);
      const rows: readonly Values[] = [
        { count: 7, ratio: 0.5, flag: true, note: 'x', level: 3, mode: 'slow' },
        { numbers: [1, 2, 3], tags: { a: '1', b: '2' }, weights: { w: 1 } },
        { note: 'y', level: undefined, numbers: [3, 4], tags: { b: '3', c: '4' }, weights: { w: 2, v: 1 } },
        { note: undefined, mode: 'fast', numbers: [], tags: {}, weights: { v: 1 } },
        { count: 0, ratio: 0, flag: false, mode: undefined },
      ];
      for (const row of rows) {
        await client.transact([update('a', row)]);
        await assertFollows(client, cache.rows('Parent').values(), 'Parent');
      }
    },
  },
  {
    name: 'a cache sees what happens to rows that no operation names',
    run: async ({ client }) => {
      const cache = await client.monitor({ Parent: {}, Child: {} });
      const [, { uuid }] = await client.transact([
        { op: 'insert', table: 'Parent', row: { name: 'p', children: [{ namedUuid: 'c' }] } },
        { op: 'insert', table: 'Child', row: { label: 'c' }, uuidName: 'c' },
        { op: 'insert', table: 'Parent', row: { name: 'q', favourite: { namedUuid: 'c' } } },
      ]);
      assert.deepEqual([...cache.rows('Child').keys()], [uuid]);
      await client.transact([update('p', { children: [] })]);
      assert.equal(cache.rows('Child').size, 0);
      await assertFollows(client, cache.rows('Parent').values(), 'Parent');
    },
  },
  {
    name: 'a cache reports each transaction once, with the rows before and after it',
    run: async ({ client }) => {
      const cache = await client.monitor({ Parent: { columns: ['name', 'count'] } });
      const events: CacheEvent[] = [];
      const unsubscribe = cache.subscribe((event) => void events.push(event));
      await client.transact([insertParent('a'), insertParent('b')]);
      await client.transact([
        update('a', { count: 1 }),
        { op: 'delete', table: 'Parent', where: [['name', '==', 'b']] },
      ]);
      await client.transact([update('a', { flag: true })]);
      unsubscribe();
      await client.transact([update('a', { count: 2 })]);
      assert.deepEqual(events.map(describe), [
        'update: insert Parent, insert Parent',
        'update: delete Parent, modify Parent',
      ]);
      const modify = events[1]?.changes.find(({ type }) => type === 'modify');
      assert.ok(modify?.type === 'modify');
      const common = { _uuid: modify.uuid, name: 'a' };
      assert.deepEqual(
        [modify.before, modify.after],
        [
          { ...common, count: 0 },
          { ...common, count: 1 },
        ],
      );
    },
  },
  {
    name: 'a cache with conditions sees rows come and go as they begin and cease to fit',
    run: async ({ client }) => {
      await client.transact([insertParent('a', { count: 1 }), insertParent('b', { count: 5 })]);
      const where = [['count', '>', 3] as const, ['name', '==', 'z'] as const];
      const cache = await client.monitor({ Parent: { columns: ['name'], where } });
      const seen = (): readonly unknown[] => namesOf(cache.rows('Parent').values());
      assert.deepEqual(seen(), ['b']);
      await client.transact([update('a', { count: 4 })]);
      assertSame(seen(), ['a', 'b']);
      await client.transact([update('b', { count: 0 }), insertParent('z')]);
      assertSame(seen(), ['a', 'z']);
    },
  },
  {
    name: 'rows are found by declared keys',
    run: async ({ client }) => {
      const indexes = {
        Parent: {
          name: (row: Row) => row['name'] as string,
          owner: (row: Row) => (row['tags'] as ReadonlyMap<string, string>).get('owner'),
        },
      };
      await client.transact([insertParent('a', { tags: { owner: 'x' } })]);
      const cache = await client.monitor({ Parent: {} }, { indexes });
      await client.transact([insertParent('b', { tags: { owner: 'x' } }), insertParent('c')]);
      assertSame(namesOf(cache.find('Parent', 'owner', 'x')), ['a', 'b']);
      await client.transact([update('a', { tags: { owner: 'y' } }), update('c', { tags: { owner: 'x' } })]);
      assertSame(namesOf(cache.find('Parent', 'owner', 'x')), ['b', 'c']);
      await client.transact([{ op: 'delete', table: 'Parent', where: [['name', '!=', 'a']] }]);
      assert.deepEqual(namesOf(cache.find('Parent', 'owner', 'x')), []);
      assert.deepEqual(namesOf(cache.find('Parent', 'name', 'a')), ['a']);
    },
  },
  {
    name: 'a cache sees the transactions of other clients, and waits for a condition',
    run: async ({ client, connect }) => {
      const cache = await connect().monitor({ Parent: {} });
      const waiting = cache.until((own) => own.rows('Parent').size === 2);
      await client.transact([insertParent('a')]);
      await client.transact([insertParent('b')]);
      await waiting;
      await assert.rejects(
        cache.until(() => false, { timeout: 1 }),
        { code: 'TIMEOUT' },
      );
    },
  },
  {
    name: 'several caches follow on their own, until they are closed',
    run: async ({ client }) => {
      const [one, other] = await Promise.all([
        client.monitor({ Parent: {} }),
        client.monitor({ Parent: {} }),
      ]);
      await client.transact([insertParent('a')]);
      await one.close();
      await client.transact([insertParent('b')]);
      assert.deepEqual([one.rows('Parent').size, other.rows('Parent').size], [1, 2]);
    },
  },
  {
    name: 'a request that the schema does not have is refused, and the client goes on',
    run: async ({ client }) => {
      await assert.rejects(client.monitor({ Nothing: {} }), /no table Nothing/);
      await assert.rejects(client.monitor({ Parent: { columns: ['nothing'] } }), /no column nothing/);
      await assert.rejects(client.transact([insertParent('a', { nothing: 1 })]), /no column nothing/);
      assert.equal((await client.monitor({ Parent: {} })).rows('Parent').size, 0);
    },
  },
];
