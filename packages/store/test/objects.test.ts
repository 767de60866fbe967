import { PodwireError } from '@podwire/errors';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { decodeObject, encodeObject, type ObjectKind, objectLimits } from '../src/index.js';

interface Thing {
  readonly name: string;
  readonly sizes: readonly number[];
}

const first: ObjectKind<{ readonly title: string }> = {
  name: 'thing',
  version: 1,
  schema: z.strictObject({ title: z.string() }),
  migrations: {},
};

const third: ObjectKind<Thing> = {
  name: 'thing',
  version: 3,
  schema: z.strictObject({ name: z.string(), sizes: z.array(z.number()) }),
  migrations: {
    1: ({ title, ...rest }) => ({ ...rest, name: title }),
    2: (old) => {
      if (old['name'] === 'broken') throw new Error('cannot');
      return { ...old, sizes: [] };
    },
  },
};

const key = '/podwire/things/a';

function failureOf(text: string): { code: string; message: string; field: unknown } {
  try {
    decodeObject(third, key, text);
  } catch (error) {
    if (!(error instanceof PodwireError)) throw error;
    expect(error.details['key']).toBe(key);
    return { code: error.code, message: error.message, field: error.details['field'] };
  }
  return expect.fail('it was read');
}

test('what is written is read, whatever text and numbers it has', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.array(fc.integer()), (name, sizes) => {
      expect(decodeObject(third, key, encodeObject(third, { name, sizes }))).toEqual({ name, sizes });
    }),
  );
});

test('an object says its kind and version', () => {
  expect(JSON.parse(encodeObject(third, { name: 'a', sizes: [1] }))).toEqual({
    kind: 'thing',
    version: 3,
    value: { name: 'a', sizes: [1] },
  });
});

test('an older version is brought up step by step', () => {
  expect(decodeObject(third, key, encodeObject(first, { title: 'a' }))).toEqual({ name: 'a', sizes: [] });
  const second = JSON.stringify({ kind: 'thing', version: 2, value: { name: 'b' } });
  expect(decodeObject(third, key, second)).toEqual({ name: 'b', sizes: [] });
});

test('a newer version is refused, whatever it looks like', () => {
  const failure = failureOf('{"kind":"thing","version":4,"value":[1]}');
  expect(failure).toMatchObject({ code: 'OBJECT_TOO_NEW', field: 'version' });
  expect(failure.message).toContain('is 4; thing is read up to 3');
});

test.each([
  ['{', ''],
  ['[]', ''],
  ['null', ''],
  ['{"kind":"other","version":3,"value":{}}', 'kind'],
  ['{"kind":"thing","version":"3","value":{}}', 'version'],
  ['{"kind":"thing","version":0,"value":{}}', 'version'],
  ['{"kind":"thing","version":1.5,"value":{}}', 'version'],
  ['{"kind":"thing","version":3}', 'value'],
  ['{"kind":"thing","version":3,"value":{"name":"a","sizes":[1,"2"]}}', 'value.sizes.1'],
  ['{"kind":"thing","version":3,"value":{"name":"a","sizes":[],"more":1}}', 'value'],
  ['{"kind":"thing","version":2,"value":{"name":"broken"}}', 'value'],
  [`${'['.repeat(40)}${']'.repeat(40)}`, ''],
  [`{"kind":"thing","version":3,"value":{"name":"${'x'.repeat(objectLimits.characters)}","sizes":[]}}`, ''],
])('%.70s is refused with its key and field', (text, field) => {
  const failure = failureOf(text);
  expect(failure).toMatchObject({ code: 'OBJECT_INVALID', field });
  expect(failure.message).toContain([key, field].filter((part) => part !== '').join(': '));
  expect(failure.message.length).toBeLessThan(500);
});

test('a version whose migration was given up is refused', () => {
  const { 2: step } = third.migrations;
  const kind = { ...third, migrations: step === undefined ? {} : { 2: step } };
  expect(() => decodeObject(kind, key, encodeObject(first, { title: 'a' }))).toThrow(
    'is 1, which is no longer read',
  );
});

test('what could not be read again is not written', () => {
  expect(() => encodeObject(third, { name: 'a', sizes: [Infinity] })).toThrow('value.sizes.0');
  expect(() => encodeObject(third, { name: 'x'.repeat(objectLimits.characters), sizes: [] })).toThrow(
    'is too long',
  );
});
