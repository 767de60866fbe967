import fc from 'fast-check';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { CniError, fileLimits, parseJson, requestLimits } from '../src/index.js';

const parse = (text: string | Uint8Array, limits = requestLimits) => parseJson(text, 'input', limits);

test('reads any JSON without repeated keys as JSON.parse does', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 6 }), fc.constantFrom(undefined, 2), (json, indent) => {
      // Through a value first: fc.json may itself repeat a key.
      const text = JSON.stringify(JSON.parse(json), undefined, indent);
      expect(parse(Buffer.from(text))).toEqual(JSON.parse(text));
    }),
  );
});

test('any bytes give a value or a CniError of code 6', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.uint8Array(),
        fc.stringMatching(/^[[\]{}:,"\\a1 ]*$/).map((text) => Buffer.from(text)),
      ),
      (bytes) => {
        try {
          parse(bytes);
        } catch (error) {
          expect(error).toBeInstanceOf(CniError);
          expect(error).toMatchObject({ code: 6 });
        }
      },
    ),
    { numRuns: 2000 },
  );
});

describe('size and depth', () => {
  const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
  test('exactly the limit is read, one more is not', () => {
    expect(parse(nested(32))).toBeDefined();
    expect(() => parse(nested(33))).toThrow('input is nested deeper than 32 levels');
    const full = JSON.stringify('x'.repeat(requestLimits.maxBytes - 2));
    expect(parse(full)).toHaveLength(requestLimits.maxBytes - 2);
    expect(() => parse(`${full} `)).toThrow('at most 1048576 are read');
  });
  test('brackets inside strings do not count', () => {
    const text = JSON.stringify({ a: '[{'.repeat(100), '[[\\"': '"[\\' });
    expect(parse(text)).toEqual(JSON.parse(text));
  });
  test('a megabyte of brackets, quotes or backslashes is refused, not computed', () => {
    for (const filler of ['[', '{"a":', '"', '\\', '"\\']) {
      expect(() => parse(filler.repeat(200_000))).toThrow(CniError);
    }
  });
});

test('a key is looked at once, however many colons follow it', () => {
  const look = vi.spyOn(JSON, 'parse');
  onTestFinished(() => look.mockRestore());
  expect(() => parse(`["\\u0061"${'{:}'.repeat(1_000)}]`)).toThrow('is no JSON');
  expect(look).toHaveBeenCalledTimes(2); // the key, and the one that says that it is no JSON
});

describe('repeated keys', () => {
  test.each([
    '{"a":1,"a":2}',
    '{"x":{"a":1,"b":[{}],"a":2}}',
    '{"a":1,"\\u0061":2}',
    '[{"a":{"a":1},"a":{}}]',
  ])('%s', (text) => {
    expect(() => parse(text)).toThrow('twice in one object');
    expect(parse(text, fileLimits)).toEqual(JSON.parse(text));
  });
  test('the same key in different objects is fine', () => {
    expect(parse('{"a":{"a":1},"b":[{"a":1},{"a":2}]}')).toBeDefined();
  });
});

test.each([
  ['', 'is empty'],
  ['  \n', 'is empty'],
  ['{', 'is no JSON'],
  ["{'a':1}", 'is no JSON'],
])('%j %s', (text, problem) => {
  expect(() => parse(text)).toThrow(problem);
});

test('bytes that are no UTF-8 are refused', () => {
  expect(() => parse(Buffer.from([0x22, 0xff, 0x22]))).toThrow('is no UTF-8');
});

test('__proto__ is a key like any other', () => {
  expect(Object.keys(parse('{"__proto__":{"x":1}}') as object)).toEqual(['__proto__']);
});
