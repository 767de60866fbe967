import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Path } from '../src/index.js';
import { openText } from '../src/documents.js';

/** All paths of a value, and some that are not there. */
function pathsOf(value: unknown, above: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [above, [...above, 'absent']];
  const children: [string | number, unknown][] = Array.isArray(value)
    ? value.map((child: unknown, index) => [index, child])
    : Object.entries(value);
  return [
    above,
    [...above, 'absent'],
    ...children.flatMap(([step, child]) => pathsOf(child, [...above, step])),
  ];
}

/** YAML's special names, and names that look like numbers, mean something else there. */
const name = fc.string({ maxLength: 6 }).map((text) => `k${text}`);
const { value: values } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.oneof(fc.integer(), fc.boolean(), fc.constant(null), fc.string()),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(name, tie('value'), { maxKeys: 4 }),
  ),
}));

test('values of JSON stand where reading it as YAML says', () => {
  fc.assert(
    fc.property(fc.dictionary(name, values, { maxKeys: 4 }), fc.constantFrom(0, 1, 2), (value, indent) => {
      const text = JSON.stringify(value, undefined, indent);
      const json = openText(text).documents[0]!;
      // With a comment in front it is no JSON any more.
      const yaml = openText(`# YAML\n${text}`).documents[0]!;
      for (const path of pathsOf(value)) {
        const place = yaml.locate(path)!;
        expect(json.locate(path)).toEqual({ ...place, line: place.line - 1 });
      }
    }),
    { numRuns: 300 },
  );
});

test.each([
  ['{"a": {"b": [1, {"c": 2}]}}', ['a', 'b', 1, 'c'], 1, 18],
  ['{\n  "a\\"b": 1,\n  "\\u0041": [true,\n    null]\n}', ['A', 1], 4, 5],
  ['{"a": "\\\\", "b": 1}', ['b'], 1, 13],
  ['{"a": 1,\r\n "b": [-1.5e3 ,\t[]]}', ['b', 1, 'no'], 2, 17],
  ['{"#1,": {"x": 1}, "": 2}', [''], 1, 19],
])('a place in %s', (text, path, line, column) => {
  expect(openText(text).documents[0]!.locate(path)).toEqual({ line, column });
});

test('what is too deep, in a value that a later one of the same name hides, is no burden', () => {
  const deep = '['.repeat(200_000) + ']'.repeat(200_000);
  const [document] = openText(`{"a": ${deep},\n"b": 1}`.replace(`"a": ${deep}`, `"b": ${deep}`)).documents;
  expect(document?.locate(['b'])).toEqual({ line: 2, column: 1 });
});
