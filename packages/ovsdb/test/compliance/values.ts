/** Values of each kind of column, as they are written and read back. */
import assert from 'node:assert/strict';
import { type Case, insertParent, select } from './environment.js';

const empty = {
  count: 0,
  ratio: 0,
  flag: false,
  note: undefined,
  level: undefined,
  mode: undefined,
  numbers: new Set<number>(),
  tags: new Map<string, string>(),
  weights: new Map<string, number>(),
  children: new Set<string>(),
  favourite: undefined,
};

const full = {
  count: -(2 ** 53) + 1,
  ratio: 0.125,
  flag: true,
  note: 'ä "quoted" \\ \u2028 \u{1f600}',
  level: 10,
  mode: 'fast',
  numbers: new Set([3, -1, 2]),
  tags: new Map([
    ['b', ''],
    ['a', 'x'],
  ]),
  weights: new Map([['w', 100]]),
};

export const valueCases: readonly Case[] = [
  {
    name: 'a column that is not written has the default of its type',
    run: async ({ client }) => {
      await client.transact([insertParent('a')]);
      assert.deepEqual(await select(client, 'Parent', Object.keys(empty)), [empty]);
    },
  },
  {
    name: 'values of each kind are read as they were written',
    run: async ({ client }) => {
      await client.transact([insertParent('a', full)]);
      assert.deepEqual(await select(client, 'Parent', Object.keys(full)), [full]);
    },
  },
  {
    name: 'an update takes values away again',
    run: async ({ client }) => {
      await client.transact([insertParent('a', full)]);
      const { name: _name, children: _children, favourite: _favourite, ...row } = { name: '', ...empty };
      await client.transact([{ op: 'update', table: 'Parent', where: [['name', '==', 'a']], row }]);
      assert.deepEqual(await select(client, 'Parent', Object.keys(row)), [row]);
    },
  },
  {
    name: 'rows of one transaction refer to each other by name, in any order',
    run: async ({ client }) => {
      const [parent, child] = await client.transact([
        {
          op: 'insert',
          table: 'Parent',
          row: { name: 'a', children: [{ namedUuid: 'c' }], named: { first: { namedUuid: 'c' } } },
        },
        { op: 'insert', table: 'Child', row: { parent: { namedUuid: 'p' } }, uuidName: 'c' },
        { op: 'insert', table: 'Parent', row: { name: 'b' }, uuidName: 'p' },
      ]);
      const [first] = await select(client, 'Parent', ['_uuid', 'children', 'named']).then((rows) =>
        rows.filter((row) => (row as { readonly _uuid: string })._uuid === parent.uuid),
      );
      assert.deepEqual(first, {
        _uuid: parent.uuid,
        children: new Set([child.uuid]),
        named: new Map([['first', child.uuid]]),
      });
    },
  },
  {
    name: 'a row may have a uuid of the caller',
    run: async ({ client }) => {
      const uuid = '6f1c0c1e-4c4f-4a35-9f0e-0c5d3c0c7a11';
      const [result] = await client.transact([{ op: 'insert', table: 'Single', row: { value: 1 }, uuid }]);
      assert.equal(result.uuid, uuid);
      assert.deepEqual(await select(client, 'Single', ['_uuid']), [{ _uuid: uuid }]);
    },
  },
];
