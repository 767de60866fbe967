/** Operations that succeed. */
import assert from 'node:assert/strict';
import type { AnyDatabase, Condition, Mutation, OvsdbClient } from '@podwire/ovsdb';
import { assertSame, type Case, failuresOf, insertParent, select } from './environment.js';

type Values = AnyDatabase[string]['values'];

async function mutated(
  client: OvsdbClient,
  column: string,
  ...mutations: Mutation<Values>[]
): Promise<unknown> {
  await client.transact([{ op: 'mutate', table: 'Parent', where: [['name', '==', 'a']], mutations }]);
  const [row] = await select(client, 'Parent', [column]);
  return (row as { readonly [column: string]: unknown })[column];
}

const mutations: readonly (readonly [string, object, Mutation<Values>, unknown])[] = [
  ['adds', { count: 5 }, ['count', '+=', 3], 8],
  ['subtracts', { count: 5 }, ['count', '-=', 8], -3],
  ['multiplies', { ratio: 0.5 }, ['ratio', '*=', 3], 1.5],
  ['divides integers towards zero', { count: -7 }, ['count', '/=', 2], -3],
  ['takes the remainder', { count: -7 }, ['count', '%=', 4], -3],
  ['changes each of a set', { numbers: [1, 2] }, ['numbers', '+=', 10], new Set([11, 12])],
  ['changes an optional that is there', { level: 3 }, ['level', '+=', 1], 4],
  ['leaves an optional that is not there', {}, ['level', '+=', 1], undefined],
  ['inserts into a set', { numbers: [1] }, ['numbers', 'insert', [1, 2]], new Set([1, 2])],
  ['deletes from a set', { numbers: [1, 2] }, ['numbers', 'delete', [2, 3]], new Set([1])],
  ['fills an optional', {}, ['note', 'insert', 'x'], 'x'],
  ['empties an optional', { note: 'x' }, ['note', 'delete', 'x'], undefined],
  [
    'inserts into a map, and leaves keys that are there',
    { tags: { a: '1' } },
    ['tags', 'insert', { a: '2', b: '3' }],
    new Map([
      ['a', '1'],
      ['b', '3'],
    ]),
  ],
  [
    'deletes pairs that are as they are named',
    { tags: { a: '1', b: '2' } },
    ['tags', 'delete', { a: '1', b: 'x' }],
    new Map([['b', '2']]),
  ],
  [
    'deletes keys from a map',
    { tags: { a: '1', b: '2' } },
    ['tags', 'delete', ['a', 'c']],
    new Map([['b', '2']]),
  ],
];

const conditions: readonly (readonly [Condition<Values>, readonly string[]])[] = [
  [['name', '==', 'a'], ['a']],
  [
    ['name', '!=', 'a'],
    ['b', 'c'],
  ],
  [['name', 'includes', 'a'], ['a']],
  [
    ['name', 'excludes', 'a'],
    ['b', 'c'],
  ],
  [
    ['count', '<', 2],
    ['a', 'c'],
  ],
  [
    ['count', '<=', 2],
    ['a', 'b', 'c'],
  ],
  [['count', '>', 1], ['b']],
  [['level', '>=', 5], ['b']],
  [['level', '<', 5], ['a']],
  [['level', '==', undefined], ['c']],
  [
    ['level', '!=', undefined],
    ['a', 'b'],
  ],
  [
    ['level', 'includes', undefined],
    ['a', 'b', 'c'],
  ],
  [
    ['level', 'excludes', 1],
    ['b', 'c'],
  ],
  [['numbers', '==', [2, 1]], ['a']],
  [
    ['numbers', 'includes', [2]],
    ['a', 'b'],
  ],
  [
    ['numbers', 'includes', []],
    ['a', 'b', 'c'],
  ],
  [
    ['numbers', 'excludes', [1, 7]],
    ['b', 'c'],
  ],
  [['tags', 'includes', { k: '1' }], ['a']],
  [
    ['tags', 'excludes', { k: '1' }],
    ['b', 'c'],
  ],
  [['tags', '==', {}], ['c']],
];

const three = [
  insertParent('a', { count: 1, level: 1, numbers: [1, 2], tags: { k: '1', l: '1' } }),
  insertParent('b', { count: 2, level: 9, numbers: [2, 3], tags: { k: '2' } }),
  insertParent('c'),
];

const guard = (name: string, count: number, timeout?: number) =>
  ({
    op: 'wait',
    table: 'Parent',
    where: [['name', '==', name]],
    columns: ['count'],
    until: '==',
    rows: [{ count }],
    ...(timeout === undefined ? {} : { timeout }),
  }) as const;

export const operationCases: readonly Case[] = [
  {
    name: 'a mutation changes what is there',
    run: async ({ client }) => {
      for (const [title, row, mutation, expected] of mutations) {
        await client.transact([{ op: 'delete', table: 'Parent', where: [] }]);
        await client.transact([insertParent('a', row)]);
        assert.deepEqual(await mutated(client, mutation[0], mutation), expected, title);
      }
    },
  },
  {
    name: 'mutations are done one after the other: a key is replaced by its deletion and an insertion',
    run: async ({ client }) => {
      await client.transact([insertParent('a', { tags: { k: '1', l: '1' } })]);
      const tags = await mutated(client, 'tags', ['tags', 'delete', ['k']], ['tags', 'insert', { k: '2' }]);
      assert.deepEqual(
        new Map([...(tags as Map<string, string>)].sort()),
        new Map([
          ['k', '2'],
          ['l', '1'],
        ]),
      );
    },
  },
  {
    name: 'a condition selects the rows that it is true of',
    run: async ({ client }) => {
      await client.transact(three);
      for (const [condition, expected] of conditions) {
        const [{ rows }] = await client.transact([
          { op: 'select', table: 'Parent', where: [condition], columns: ['name'] },
        ]);
        assertSame(
          rows.map(({ name }) => name),
          expected,
        );
      }
    },
  },
  {
    name: 'all conditions have to be true',
    run: async ({ client }) => {
      await client.transact(three);
      const where = [['count', '>', 0] as const, ['level', '<', 5] as const];
      const [{ count }] = await client.transact([
        { op: 'update', table: 'Parent', where, row: { flag: true } },
      ]);
      assert.equal(count, 1);
      assertSame(await select(client, 'Parent', ['name', 'flag']), [
        { name: 'a', flag: true },
        { name: 'b', flag: false },
        { name: 'c', flag: false },
      ]);
    },
  },
  {
    name: 'a select gives equal rows once',
    run: async ({ client }) => {
      await client.transact(three);
      assert.deepEqual(await select(client, 'Parent', ['flag']), [{ flag: false }]);
    },
  },
  {
    name: 'operations see those before them',
    run: async ({ client }) => {
      const [, , mutation, { rows }, deletion] = await client.transact([
        insertParent('a', { count: 1 }),
        insertParent('b', { count: 1 }),
        { op: 'mutate', table: 'Parent', where: [['count', '==', 1]], mutations: [['count', '+=', 1]] },
        { op: 'select', table: 'Parent', where: [], columns: ['name', 'count'] },
        { op: 'delete', table: 'Parent', where: [['count', '==', 2]] },
        { op: 'comment', comment: 'done' },
      ]);
      assert.deepEqual([mutation.count, deletion.count], [2, 2]);
      assertSame(rows, [
        { name: 'a', count: 2 },
        { name: 'b', count: 2 },
      ]);
      assert.deepEqual(await select(client, 'Parent', ['name']), []);
    },
  },
  {
    name: 'a guard lets a transaction through, or stops it as a whole',
    run: async ({ client }) => {
      await client.transact(three);
      assert.deepEqual(await failuresOf(client, guard('a', 1), insertParent('d')), []);
      assert.deepEqual(await failuresOf(client, insertParent('e'), guard('a', 2)), ['1: timed out']);
      const none = { ...guard('x', 0), rows: [], columns: ['name'] };
      assert.deepEqual(await failuresOf(client, none), []);
      assert.deepEqual(await failuresOf(client, { ...none, until: '!=' }), ['0: timed out']);
      assert.equal((await select(client, 'Parent', ['name'])).length, 4);
    },
  },
  {
    name: 'a guard with a timeout waits until another transaction makes it hold',
    run: async ({ client, connect }) => {
      await client.transact(three);
      const waiting = client.transact([guard('a', 7, 20_000), insertParent('d')]);
      const other = connect();
      const set = (count: number) =>
        other.transact([{ op: 'update', table: 'Parent', where: [['name', '==', 'a']], row: { count } }]);
      await set(6);
      await set(7);
      await waiting;
      assert.equal((await select(client, 'Parent', ['name'])).length, 4);
    },
  },
  {
    name: 'a guard that does not hold within its timeout fails',
    run: async ({ client }) => {
      await client.transact(three);
      assert.deepEqual(await failuresOf(client, guard('a', 7, 30)), ['0: timed out']);
    },
  },
  {
    name: 'a transaction that is aborted while it waits is not carried out later',
    run: async ({ client }) => {
      await client.transact(three);
      const controller = new AbortController();
      const { signal } = controller;
      const waiting = client.transact([guard('a', 7, 20_000), insertParent('d')], { signal });
      const rejected = assert.rejects(waiting, { code: 'OUTCOME_UNKNOWN' });
      // It is at the server when the answer to a later one is here.
      await select(client, 'Parent', ['name']);
      controller.abort(new Error('enough'));
      await rejected;
      await client.transact([{ op: 'update', table: 'Parent', where: [], row: { count: 7 } }]);
      assert.equal((await select(client, 'Parent', ['name'])).length, 3);
    },
  },
];
