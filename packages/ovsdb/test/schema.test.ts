import { describe, expect, test } from 'vitest';
import { ProtocolError } from '../src/errors.js';
import { parseSchema } from '../src/parse-schema.js';

const withColumn = (type: unknown, more: object = {}): unknown => ({
  name: 'D',
  version: '1.0.0',
  tables: { T: { columns: { c: { type, ...more } } } },
});
const columnOf = (json: unknown) => parseSchema(json).tables.get('T')?.columns.get('c');

describe('the schema parser', () => {
  test('fills in what a schema leaves out', () => {
    expect(columnOf(withColumn('integer'))).toEqual({
      type: { key: { type: 'integer' }, min: 1, max: 1 },
      mutable: true,
      ephemeral: false,
    });
    expect(parseSchema(withColumn('integer')).tables.get('T')).toMatchObject({
      maxRows: Infinity,
      indexes: [],
    });
  });

  test('reads constraints, references and enumerations', () => {
    const key = { type: 'integer', minInteger: 0, maxInteger: 4095, enum: ['set', [1, 2]] };
    const value = { type: 'uuid', refTable: 'T' };
    expect(columnOf(withColumn({ key, value, min: 0, max: 'unlimited' }))?.type).toEqual({
      key: { type: 'integer', minInteger: 0, maxInteger: 4095, enum: [1, 2] },
      value: { type: 'uuid', refTable: 'T', refType: 'strong' },
      min: 0,
      max: Infinity,
    });
    expect(columnOf(withColumn({ key: { type: 'string', enum: 'only' } }))?.type.key.enum).toEqual(['only']);
  });

  test('takes a column of weak references as mutable', () => {
    const key = { type: 'uuid', refTable: 'T', refType: 'weak' };
    expect(columnOf(withColumn({ key, min: 0, max: 1 }, { mutable: false }))?.mutable).toBe(true);
    expect(columnOf(withColumn('string', { mutable: false }))?.mutable).toBe(false);
  });

  test('takes all tables as roots when none of them is one', () => {
    const tables = { A: { columns: {} }, B: { columns: {} } };
    const rootsOf = (json: unknown) => [...parseSchema(json).tables.values()].map(({ isRoot }) => isRoot);
    expect(rootsOf({ name: 'D', tables })).toEqual([true, true]);
    expect(rootsOf({ name: 'D', tables: { ...tables, B: { columns: {}, isRoot: true } } })).toEqual([
      false,
      true,
    ]);
  });

  const faulty: readonly (readonly [string, unknown, RegExp])[] = [
    ['something else than an object', [], /the schema: expected an object/],
    ['an unknown type', withColumn('text'), /table T, column c: expected an object, found "text"/],
    ['a min of two', withColumn({ key: 'integer', min: 2, max: 3 }), /expected a min of 0 or 1, found 2/],
    ['a max of zero', withColumn({ key: 'integer', max: 0 }), /expected a max of at least 1/],
    [
      'a text as a bound',
      withColumn({ key: { type: 'integer', minInteger: '0' } }),
      /a number as minInteger/,
    ],
    [
      'an enumeration of another type',
      withColumn({ key: { type: 'integer', enum: 'x' } }),
      /expected integer/,
    ],
    ['a name that belongs to the server', { name: 'D', tables: { _T: { columns: {} } } }, /found "_T"/],
    [
      'a name that changes prototypes',
      JSON.parse('{"name":"D","tables":{"__proto__":{}}}'),
      /found "__proto__"/,
    ],
    [
      'an index over a column that is not there',
      { name: 'D', tables: { T: { columns: {}, indexes: [['x']] } } },
      /T/,
    ],
    ['no rows at most', { name: 'D', tables: { T: { columns: {}, maxRows: 0 } } }, /a positive maxRows/],
  ];
  test.each(faulty)('refuses %s', (_name, json, message) => {
    expect(() => parseSchema(json)).toThrow(ProtocolError);
    expect(() => parseSchema(json)).toThrow(message);
  });
});
