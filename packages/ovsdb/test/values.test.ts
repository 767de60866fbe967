import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeRow, decodeValue } from '../src/decode.js';
import { encodeValue } from '../src/encode.js';
import { ProtocolError } from '../src/errors.js';
import { parseSchema } from '../src/parse-schema.js';
import { type ColumnType, shapeOf } from '../src/schema.js';
import { areSameValues, type Value, type ValueInput } from '../src/values.js';
import { atomOf, columnType } from './arbitraries.js';

const uuid = '6f1c0c1e-4c4f-4a35-9f0e-0c5d3c0c7a11';
const one = (type: ColumnType['key']['type']): ColumnType => ({ key: { type }, min: 1, max: 1 });
const optional: ColumnType = { key: { type: 'integer' }, min: 0, max: 1 };
const set: ColumnType = { key: { type: 'uuid' }, min: 0, max: Infinity };
const map: ColumnType = { key: { type: 'string' }, value: { type: 'integer' }, min: 0, max: Infinity };

const wire: readonly (readonly [string, ColumnType, Value, unknown])[] = [
  ['an integer', one('integer'), 7, 7],
  ['a real without a fraction', one('real'), 7, 7],
  ['a text', one('string'), 'ä"\\', 'ä"\\'],
  ['a boolean', one('boolean'), false, false],
  ['a uuid', one('uuid'), uuid, ['uuid', uuid]],
  ['an optional that is there', optional, 5, 5],
  ['an optional that is not', optional, undefined, ['set', []]],
  ['an empty set', set, new Set(), ['set', []]],
  ['a set of one', set, new Set([uuid]), ['set', [['uuid', uuid]]]],
  ['a map', map, new Map([['a', 1]]), ['map', [['a', 1]]]],
];

describe('the codec', () => {
  test.each(wire)('writes and reads %s as in RFC 7047', (_name, type, value, json) => {
    expect(encodeValue(value, type, 'here')).toEqual(json);
    expect(decodeValue(json, type, 'here')).toEqual(value);
  });

  test('reads a set of one that comes as its bare element', () => {
    expect(decodeValue(['uuid', uuid], set, 'here')).toEqual(new Set([uuid]));
    expect(decodeValue(['set', [5]], optional, 'here')).toBe(5);
    expect(decodeValue(['set', [5]], one('integer'), 'here')).toBe(5);
  });

  test('takes arrays as sets, plain objects as maps, and rows of the same transaction by their name', () => {
    expect(encodeValue([{ namedUuid: 'row0' }, uuid], set, 'here')).toEqual([
      'set',
      [
        ['named-uuid', 'row0'],
        ['uuid', uuid],
      ],
    ]);
    expect(encodeValue({ a: 1 }, map, 'here')).toEqual(['map', [['a', 1]]]);
  });

  const refused: readonly (readonly [string, ColumnType, ValueInput])[] = [
    ['an integer beyond 2^53', one('integer'), 2 ** 53],
    ['a fraction as an integer', one('integer'), 1.5],
    ['infinity', one('real'), Infinity],
    ['a text with a null byte', one('string'), 'a\0b'],
    ['half a surrogate pair', one('string'), '\ud800'],
    ['a number as a text', one('string'), 1],
    ['a text that is no uuid', one('uuid'), 'br0'],
    ['a name with a space', one('uuid'), { namedUuid: 'a b' }],
    ['nothing where one value must be', one('integer'), undefined],
    ['a set where one value must be', one('integer'), [1]],
    ['one value where a set must be', set, uuid],
    ['a set where a map must be', map, ['a']],
  ];
  test.each(refused)('refuses to write %s', (_name, type, value) => {
    expect(() => encodeValue(value, type, 'table T, column c')).toThrow(/^table T, column c: /);
  });

  const unreadable: readonly (readonly [string, ColumnType, unknown])[] = [
    ['a text as an integer', one('integer'), '7'],
    ['a fraction as an integer', one('integer'), 7.5],
    ['a uuid without its tag', one('uuid'), uuid],
    ['two values for an optional', optional, ['set', [1, 2]]],
    ['no value where one must be', one('integer'), ['set', []]],
    ['a set as a map', map, ['set', []]],
    ['a pair of three', map, ['map', [['a', 1, 2]]]],
    ['null', one('string'), null],
  ];
  test.each(unreadable)('refuses to read %s', (_name, type, json) => {
    expect(() => decodeValue(json, type, 'here')).toThrow(ProtocolError);
  });

  test('reads back each value that it writes', () => {
    fc.assert(
      fc.property(
        columnType.chain((type) => fc.tuple(fc.constant(type), valueOf(type))),
        ([type, value]) => {
          const json: unknown = JSON.parse(JSON.stringify(encodeValue(value, type, 'here')));
          const back = decodeValue(json, type, 'here');
          expect(back).toEqual(value);
          expect(areSameValues(back, value)).toBe(true);
        },
      ),
    );
  });

  test('never reads something of the wrong shape out of any JSON', () => {
    fc.assert(
      fc.property(columnType, fc.jsonValue(), (type, json) => {
        let value: Value;
        try {
          value = decodeValue(json, type, 'here');
        } catch (error) {
          expect(error).toBeInstanceOf(ProtocolError);
          return;
        }
        expect(() => encodeValue(value, type, 'here')).not.toThrow(TypeError);
      }),
    );
  });

  test('refuses a column that the table does not have, and knows the two that each has', () => {
    const schema = parseSchema({
      name: 'D',
      version: '1.0.0',
      tables: { T: { columns: { a: { type: 'string' } } } },
    });
    const table = schema.tables.get('T')!;
    expect(decodeRow({ a: 'x', _uuid: ['uuid', uuid] }, table, 'table T')).toEqual({ a: 'x', _uuid: uuid });
    expect(() => decodeRow({ b: 'x' }, table, 'table T')).toThrow('table T has no column b');
  });
});

function valueOf({ key, value, min, max }: ColumnType): fc.Arbitrary<Value> {
  const atom = atomOf[key.type];
  if (value !== undefined)
    return fc.array(fc.tuple(atom, atomOf[value.type]), { maxLength: 4 }).map((pairs) => new Map(pairs));
  if (max > 1) return fc.array(atom, { maxLength: 4 }).map((atoms) => new Set(atoms));
  return min === 1 ? atom : fc.option(atom, { nil: undefined });
}

test('the type of a column decides about the shape of its values', () => {
  expect([one('uuid'), optional, set, map].map(shapeOf)).toEqual(['one', 'optional', 'set', 'map']);
});
