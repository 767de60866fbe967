/** Transactions that the schema does not allow: nothing is changed. */
import assert from 'node:assert/strict';
import type { Operation } from '@podwire/ovsdb';
import { type Case, failuresOf, insertChild, insertParent, select } from './environment.js';

const unused = '11111111-1111-4111-8111-111111111111';
const insertPair = (a: number, b: number): Operation => ({ op: 'insert', table: 'Pair', row: { a, b } });
const mutateParent = (...mutations: Extract<Operation, { op: 'mutate' }>['mutations']): Operation => ({
  op: 'mutate',
  table: 'Parent',
  where: [],
  mutations,
});

const existing = [insertParent('old', { level: 5, numbers: [1, 2] }), insertPair(1, 1)];

const faulty: readonly (readonly [string, readonly string[], readonly Operation[]])[] = [
  ['a value out of range', ['0: constraint violation'], [insertParent('a', { level: 11 })]],
  [
    'a value of a map out of range',
    ['0: constraint violation'],
    [insertParent('a', { weights: { w: 101 } })],
  ],
  ['a value that is not listed', ['0: constraint violation'], [insertParent('a', { mode: 'medium' })]],
  ['a text that is too long', ['0: constraint violation'], [insertChild('c', { label: 'nine char' })]],
  ['too many members', ['0: syntax error'], [insertParent('a', { numbers: [1, 2, 3, 4, 5] })]],
  ['a duplicate in a set', ['0: ovsdb error'], [insertParent('a', { numbers: [1, 1] })]],
  [
    'a change of an immutable column',
    ['0: constraint violation'],
    [{ op: 'update', table: 'Parent', where: [], row: { name: 'x' } }],
  ],
  ['a mutation out of range', ['0: constraint violation'], [mutateParent(['level', '+=', 6])]],
  [
    'a mutation with too many members',
    ['0: constraint violation'],
    [mutateParent(['numbers', 'insert', [3, 4, 5]])],
  ],
  ['a mutation of a filled optional', ['0: constraint violation'], [mutateParent(['level', 'insert', 6])]],
  ['a division by zero', ['0: domain error'], [mutateParent(['count', '/=', 0])]],
  [
    'a result beyond 64 bits',
    ['1: range error'],
    [mutateParent(['count', '+=', 2 ** 53 - 1]), mutateParent(['count', '*=', 4096])],
  ],
  ['a mutation that does not apply', ['0: syntax error'], [mutateParent(['flag', 'insert', true])]],
  ['two rows with the same index', ['2: constraint violation'], [insertParent('a'), insertParent('a')]],
  ['a row with the index of an older one', ['1: constraint violation'], [insertPair(1, 1)]],
  [
    'a row too many',
    ['2: constraint violation'],
    [
      { op: 'insert', table: 'Single', row: {} },
      { op: 'insert', table: 'Single', row: {} },
    ],
  ],
  ['a name that is given twice', ['1: duplicate uuid-name'], [insertChild('c'), insertChild('c')]],
  [
    'a uuid that is given twice',
    ['1: duplicate uuid'],
    [
      { op: 'insert', table: 'Single', row: {}, uuid: unused },
      { op: 'insert', table: 'Single', row: {}, uuid: unused },
    ],
  ],
  [
    'a strong reference to a row that is not there',
    ['1: referential integrity violation'],
    [insertParent('a', { children: [unused] })],
  ],
  [
    'a strong reference to a name that no row has',
    ['1: referential integrity violation'],
    [insertParent('a', { children: [{ namedUuid: 'x' }] })],
  ],
  [
    'a weak reference that must not be empty',
    ['1: constraint violation'],
    [{ op: 'insert', table: 'Holder', row: { targets: [unused] } }],
  ],
  [
    'a weak reference that is left out and must not be',
    ['1: constraint violation'],
    [{ op: 'insert', table: 'Holder', row: {} }],
  ],
  ['an abort', ['1: aborted'], [insertParent('a'), { op: 'abort' }, insertParent('b')]],
];

export const failureCases: readonly Case[] = faulty.map(([title, expected, operations]) => ({
  name: `a transaction fails as a whole: ${title}`,
  run: async ({ client }) => {
    await client.transact(existing);
    assert.deepEqual(await failuresOf(client, ...operations), expected);
    assert.deepEqual(await select(client, 'Parent', ['name', 'count', 'level', 'numbers']), [
      { name: 'old', count: 0, level: 5, numbers: new Set([1, 2]) },
    ]);
    for (const table of ['Child', 'Single', 'Holder'])
      assert.deepEqual(await select(client, table, ['_uuid']), []);
    assert.deepEqual(await select(client, 'Pair', ['a', 'b']), [{ a: 1, b: 1 }]);
  },
}));
