/** References between rows. */
import assert from 'node:assert/strict';
import { assertSame, type Case, failuresOf, insertChild, insertParent, select } from './environment.js';

const child = (namedUuid: string) => ({ namedUuid });
const family = [
  insertParent('p', { children: [child('a'), child('b')], favourite: child('a') }, 'p'),
  insertChild('a', { children: [child('c')], parent: child('p') }),
  insertChild('b'),
  insertChild('c'),
];
const labels = ['label'];

export const referenceCases: readonly Case[] = [
  {
    name: 'a row that nothing refers to is not kept, unless its table is a root',
    run: async ({ client }) => {
      await client.transact([insertChild('a'), insertParent('p')]);
      assert.deepEqual(await select(client, 'Child', labels), []);
      assert.deepEqual(await select(client, 'Parent', ['name']), [{ name: 'p' }]);
    },
  },
  {
    name: 'rows that refer to themselves alone are not kept',
    run: async ({ client }) => {
      await client.transact([insertChild('a', { children: [child('a')] })]);
      assert.deepEqual(await select(client, 'Child', labels), []);
    },
  },
  {
    name: 'a weak reference keeps nothing',
    run: async ({ client }) => {
      await client.transact([insertParent('p', { favourite: child('a') }), insertChild('a')]);
      assert.deepEqual(await select(client, 'Parent', ['favourite']), [{ favourite: undefined }]);
    },
  },
  {
    name: 'rows go with the last reference to them, and take those along that they alone refer to',
    run: async ({ client }) => {
      const [, a] = await client.transact(family);
      assert.equal((await select(client, 'Child', labels)).length, 3);
      assert.ok(a !== undefined && 'uuid' in a);
      await client.transact([
        { op: 'mutate', table: 'Parent', where: [], mutations: [['children', 'delete', [a.uuid]]] },
      ]);
      assert.deepEqual(await select(client, 'Child', labels), [{ label: 'b' }]);
      assert.deepEqual(await select(client, 'Parent', ['favourite']), [{ favourite: undefined }]);
    },
  },
  {
    name: 'a row with several references goes with the last of them',
    run: async ({ client }) => {
      await client.transact([
        insertParent('p', { children: [child('a')] }),
        insertParent('q', { named: { x: child('a') } }),
        insertChild('a'),
      ]);
      const remove = (name: string) =>
        client.transact([{ op: 'delete', table: 'Parent', where: [['name', '==', name]] }]);
      await remove('p');
      assert.deepEqual(await select(client, 'Child', labels), [{ label: 'a' }]);
      await remove('q');
      assert.deepEqual(await select(client, 'Child', labels), []);
    },
  },
  {
    name: 'a row with strong references cannot be deleted',
    run: async ({ client }) => {
      await client.transact(family);
      const remove = { op: 'delete', table: 'Child', where: [['label', '==', 'c']] } as const;
      assert.deepEqual(await failuresOf(client, remove), ['1: referential integrity violation']);
      const release = {
        op: 'update',
        table: 'Child',
        where: [['label', '==', 'a']],
        row: { children: [] },
      } as const;
      assert.deepEqual(await failuresOf(client, remove, release), []);
      assertSame(await select(client, 'Child', labels), [{ label: 'a' }, { label: 'b' }]);
    },
  },
  {
    name: 'a weak reference goes with its row, and must not be the last one where one has to be',
    run: async ({ client }) => {
      await client.transact([
        insertParent('p', {}, 'p'),
        insertParent('q', { friends: [child('p'), child('q')] }, 'q'),
        { op: 'insert', table: 'Holder', row: { targets: [child('p'), child('q')] } },
      ]);
      const remove = (name: string) =>
        ({ op: 'delete', table: 'Parent', where: [['name', '==', name]] }) as const;
      assert.deepEqual(await failuresOf(client, remove('p')), []);
      const [row] = (await select(client, 'Parent', ['_uuid', 'friends'])) as readonly {
        readonly _uuid: string;
      }[];
      assert.deepEqual(row, { _uuid: row?._uuid, friends: new Set([row?._uuid]) });
      assert.deepEqual(await failuresOf(client, remove('q')), ['1: constraint violation']);
    },
  },
  {
    name: 'rows may exchange the values of an index within a transaction',
    run: async ({ client }) => {
      await client.transact([
        { op: 'insert', table: 'Pair', row: { a: 1, b: 1 } },
        { op: 'insert', table: 'Pair', row: { a: 1, b: 2 } },
      ]);
      const move = (from: number, to: number) =>
        ({ op: 'update', table: 'Pair', where: [['b', '==', from]], row: { b: to } }) as const;
      assert.deepEqual(await failuresOf(client, move(1, 3), move(2, 1), move(3, 2)), []);
      assert.deepEqual(await failuresOf(client, move(1, 2)), ['1: constraint violation']);
    },
  },
];
