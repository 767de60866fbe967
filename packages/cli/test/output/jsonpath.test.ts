import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { renderTemplate } from '../../src/output/jsonpath.js';
import { JsonPathError, readTemplate } from '../../src/output/jsonpath-reader.js';

const render = (template: string, document: unknown): string =>
  renderTemplate(readTemplate(template), document);

/** As in kubectl's documentation: a list of things of two kinds, one with a dotted key. */
const document = {
  kind: 'List',
  items: [
    { kind: 'None', metadata: { name: '127.0.0.1', labels: { 'a.b/c': 'x' } }, ready: true, weight: 2 },
    { kind: 'None', metadata: { name: '127.0.0.2' }, ready: false, weight: 10 },
  ],
  users: [
    { name: 'myself', user: {} },
    { name: 'e2e', user: { username: 'admin', password: 'secret' } },
  ],
};

describe('a template of kubectl’s dialect', () => {
  test.each([
    ['{.kind}', 'List'],
    ['.kind', 'List'],
    ['kind', 'List'],
    ['{$.kind}', 'List'],
    ['{@.kind}', 'List'],
    ["{['kind']}", 'List'],
    ['kind is {.kind}', 'kind is List'],
    ['{.items[*].metadata.name}', '127.0.0.1 127.0.0.2'],
    ['{.items[0].metadata.name}', '127.0.0.1'],
    ['{.items[-1].metadata.name}', '127.0.0.2'],
    ['{.items[0:1].metadata.name}', '127.0.0.1'],
    ['{.items[1:].metadata.name}', '127.0.0.2'],
    ['{.items[-1:].metadata.name}', '127.0.0.2'],
    ['{.items[::2].metadata.name}', '127.0.0.1'],
    ['{.items[0,1].metadata.name}', '127.0.0.1 127.0.0.2'],
    ["{.items[*]['metadata.name', 'kind']}", '127.0.0.1 127.0.0.2 None None'],
    ['{..name}', '127.0.0.1 127.0.0.2 myself e2e'],
    ['{.users[?(@.name=="e2e")].user.password}', 'secret'],
    ["{.users[?(@.name!='e2e')].name}", 'myself'],
    ['{.items[?(@.weight>2)].metadata.name}', '127.0.0.2'],
    ['{.items[?(@.weight <= 2)].metadata.name}', '127.0.0.1'],
    ['{.items[?(@.ready==true)].weight}', '2'],
    ['{.users[?(@.user.username)].name}', 'e2e'],
    ['{.items[?(@.kind==$.kind)].weight}', ''],
    [String.raw`{.items[0].metadata.labels.a\.b/c}`, 'x'],
    ["{.items[0].metadata.labels['a.b/c']}", 'x'],
    [
      String.raw`{range .items[*]}{.metadata.name}{"\t"}{.weight}{"\n"}{end}`,
      '127.0.0.1\t2\n127.0.0.2\t10\n',
    ],
    ['{range .items[*]}[{.metadata.name}, {$.kind}] {end}', '[127.0.0.1, List] [127.0.0.2, List] '],
    ['{.users[1].user}', '{"username":"admin","password":"secret"}'],
    ['{.users[0].*}', 'myself {}'],
    ['{"a" .kind "b"}', 'aListb'],
    ['{.missing.deep[*].x}', ''],
    ['{.kind.length}{.items.length}{.constructor}{.__proto__}', ''],
  ])('%s gives %j', (template, expected) => expect(render(template, document)).toBe(expected));

  test('the whole document is {.}, {$} and {@}', () => {
    for (const whole of ['{.}', '{$}', '{@}']) {
      expect(JSON.parse(render(whole, document))).toEqual(document);
    }
  });

  test.each([
    ['{.items[}', /expected a number, a name in quotes, \* or \?\(…\), found \}, at character 9/],
    ['{.items', /expected a path .* found the end/],
    ['{range .items[*]}{.x}', /expected \{end\}/],
    ['{end}', /\{end\} without \{range\}/],
    ['{.items[?(@.a==)]}', /expected a path/],
    ['{.a..}', /expected the name of a field/],
    ['{.items[::0]}', /step of a slice/],
    ['{(1+1)}', /expected a path/],
    ['{process.exit()}', /expected a path/],
  ])('%s is refused with the place', (template, message) => {
    expect(() => readTemplate(template)).toThrow(message);
  });
});

describe('properties of templates', () => {
  type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

  /** Every path to a value, and the value. */
  function pathsOf(value: Json, path: string): [string, Json][] {
    if (Array.isArray(value)) {
      return [[path, value], ...value.flatMap((member, index) => pathsOf(member, `${path}[${index}]`))];
    }
    if (typeof value !== 'object' || value === null) return [[path, value]];
    const within = Object.entries(value).flatMap(([key, member]) =>
      pathsOf(member, `${path}['${key.replaceAll(/['\\]/g, String.raw`\$&`)}']`),
    );
    return [[path, value], ...within];
  }

  const textOf = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value));

  test('every value of any document is reached by its path', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3 }), (value) => {
        const missed = pathsOf(value as Json, '$').filter(
          ([path, expected]) => render(`{${path}}`, value) !== textOf(expected),
        );
        expect(missed).toEqual([]);
      }),
    );
  });

  test('a range over a list is the list, one by one', () => {
    fc.assert(
      fc.property(fc.array(fc.record({ name: fc.string(), n: fc.integer() })), (items) => {
        const expected = items.map(({ name, n }) => `${name}=${n};`).join('');
        expect(render('{range .items[*]}{.name}={.n};{end}', { items })).toBe(expected);
      }),
    );
  });

  test('any text is a template or is refused, and reaches nothing but the document', () => {
    const pieces = fc.constantFrom(
      ...['{', '}', '.', '..', '[', ']', '*', '?(', ')', '@', '$', 'a', "'a'", '"', '==', '1', ':', ',', ' '],
      ...['range ', 'end', '\\', 'constructor', '__proto__', '-'],
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 12 }), (words) => {
        const template = words.join('');
        try {
          expect(render(template, { a: [1, { a: 'x' }] })).not.toMatch(/function|\[native code\]|undefined/);
        } catch (error) {
          expect(error).toBeInstanceOf(JsonPathError);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
