/** Types of transactions and caches; the compiler checks them, and a server that they mean what they say. */
import fs from 'node:fs';
import path from 'node:path';
import { FakeServer } from '@podwire/ovsdb/fake';
import { afterAll, describe, expect, expectTypeOf, test } from 'vitest';
import type { OpenVSwitchDatabase } from '../examples/switch.js';
import { OvsdbClient } from '../src/index.js';

const schema: unknown = JSON.parse(
  fs.readFileSync(path.join(import.meta.dirname, '../examples/switch.ovsschema'), 'utf8'),
);
const server = new FakeServer({ schema });
const client = new OvsdbClient<OpenVSwitchDatabase>({
  endpoints: ['memory'],
  database: 'Open_vSwitch',
  open: server.open,
});
afterAll(() => client.close());

describe('typed operations', () => {
  test('have results of their own', async () => {
    const results = await client.transact([
      { op: 'insert', table: 'Open_vSwitch', row: { bridges: [{ namedUuid: 'b' }] } },
      { op: 'insert', table: 'Bridge', row: { name: 'br0', fail_mode: 'secure' }, uuidName: 'b' },
      { op: 'mutate', table: 'Open_vSwitch', where: [], mutations: [['next_cfg', '+=', 1]] },
      { op: 'select', table: 'Bridge', where: [['name', '==', 'br0']], columns: ['name', 'fail_mode'] },
      { op: 'comment', comment: 'typed' },
    ]);
    const [, , { count }, { rows }] = results;
    expectTypeOf(results[0].uuid).toEqualTypeOf<string>();
    expectTypeOf(count).toEqualTypeOf<number>();
    expectTypeOf(rows[0]!).toEqualTypeOf<{
      readonly name: string;
      readonly fail_mode: 'standalone' | 'secure' | undefined;
    }>();
    expect([count, rows]).toEqual([1, [{ name: 'br0', fail_mode: 'secure' }]]);
  });

  test('that the schema does not have are no operations', async () => {
    const refused = async (work: Promise<unknown>): Promise<void> =>
      await expect(work).rejects.toBeInstanceOf(Error);
    // @ts-expect-error There is no table of this name.
    await refused(client.transact([{ op: 'delete', table: 'Bridges', where: [] }]));
    // @ts-expect-error There is no column of this name.
    await refused(client.transact([{ op: 'insert', table: 'Bridge', row: { title: 'x' } }]));
    // @ts-expect-error The column is text.
    await refused(client.transact([{ op: 'insert', table: 'Bridge', row: { name: 1 } }]));
    // @ts-expect-error The value is not listed.
    await refused(client.transact([{ op: 'insert', table: 'Bridge', row: { fail_mode: 'odd' } }]));
    // @ts-expect-error The column is text.
    await refused(client.transact([{ op: 'delete', table: 'Bridge', where: [['name', '==', 1]] }]));
  });

  test('and caches have the columns that were asked for', async () => {
    const cache = await client.monitor(
      { Bridge: { columns: ['name'] }, Open_vSwitch: {} },
      { indexes: { Bridge: { name: (row) => row.name } } },
    );
    const [row] = cache.find('Bridge', 'name', 'br0');
    expectTypeOf(row!).toEqualTypeOf<{ readonly _uuid: string; readonly name: string }>();
    expect(row?.name).toBe('br0');
    // @ts-expect-error The table is not followed.
    expect(() => cache.rows('Port')).toThrow('the table Port is not followed');
    expect(() => cache.find('Bridge', 'title', 'x')).toThrow('the table Bridge has no index title');
  });
});
