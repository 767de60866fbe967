import fs from 'node:fs';
import path from 'node:path';
import prettier from 'prettier';
import { describe, expect, test } from 'vitest';
import { runGenerator } from '../src/generate/run.js';
import { generateTypes } from '../src/generate/types.js';
import { parseSchema } from '../src/parse-schema.js';

const examples = path.join(import.meta.dirname, '../examples');
const read = (file: string): string => fs.readFileSync(path.join(examples, file), 'utf8');

/** The lines that the generator writes for one column: those of the row, then that of the values. */
function linesOf(type: unknown, more: object = {}): readonly string[] {
  const schema = { name: 'D', tables: { T: { columns: { c: { type, ...more } } } } };
  const lines = generateTypes(parseSchema(schema)).split('\n');
  const end = lines.findIndex((line) => line.startsWith('  readonly c:'));
  const before = lines[end - 1]?.includes('/**') ? [lines[end - 1]!] : [];
  return [...before, lines[end]!, lines.find((line) => line.startsWith('  readonly c?:'))!].map((line) =>
    line.trim(),
  );
}

const enumeration = { type: 'string', enum: ['set', ["it's", 'b"\\']] };
const columns: readonly (readonly [string, unknown, readonly string[]])[] = [
  ['one value', 'integer', ['readonly c: number;', 'readonly c?: number;']],
  [
    'an optional',
    { key: 'boolean', min: 0, max: 1 },
    ['readonly c: boolean | undefined;', 'readonly c?: boolean | undefined;'],
  ],
  [
    'a set of references',
    { key: { type: 'uuid', refTable: 'T', refType: 'weak' }, min: 0, max: 5 },
    [
      '/** Of T, weak. At most 5. */',
      'readonly c: ReadonlySet<string>;',
      'readonly c?: ReadonlySet<Reference> | readonly Reference[];',
    ],
  ],
  [
    'a map with text as keys',
    { key: 'string', value: { type: 'uuid', refTable: 'T' }, min: 0, max: 'unlimited' },
    [
      '/** Of T. */',
      'readonly c: ReadonlyMap<string, string>;',
      'readonly c?: ReadonlyMap<string, Reference> | { readonly [key: string]: Reference };',
    ],
  ],
  [
    'a map with numbers as keys',
    { key: 'integer', value: 'real', min: 0, max: 'unlimited' },
    ['readonly c: ReadonlyMap<number, number>;', 'readonly c?: ReadonlyMap<number, number>;'],
  ],
  [
    'an enumeration',
    { key: enumeration, min: 0, max: 'unlimited' },
    [
      String.raw`readonly c: ReadonlySet<'it\'s' | 'b"\\'>;`,
      String.raw`readonly c?: ReadonlySet<'it\'s' | 'b"\\'> | readonly ('it\'s' | 'b"\\')[];`,
    ],
  ],
  [
    'a range',
    { key: { type: 'integer', minInteger: 1 } },
    ['/** From 1 to ∞. */', 'readonly c: number;', 'readonly c?: number;'],
  ],
  [
    'a length',
    { key: { type: 'string', maxLength: 8 } },
    ['/** 0 to 8 characters. */', 'readonly c: string;', 'readonly c?: string;'],
  ],
];

describe('the generator of types', () => {
  test.each(columns)('writes %s', (_name, type, lines) => {
    expect(linesOf(type)).toEqual(lines);
  });

  test('says which columns only an insert sets', () => {
    expect(linesOf('string', { mutable: false })[0]).toBe('/** Set by an insert alone. */');
  });

  test('gives tables their own names when those for types would be the same', () => {
    const tables = { a_b: { columns: {} }, aB: { columns: {} }, c_d: { columns: {} } };
    const text = generateTypes(parseSchema({ name: 'D', tables }));
    expect([...text.matchAll(/interface (\w+)Row/g)].map(([, name]) => name)).toEqual(['a_b', 'aB', 'CD']);
    expect(text).not.toContain('import');
  });

  test('has written the types of the examples, which are up to date', async () => {
    const file = path.join(examples, 'switch.ts');
    const text = generateTypes(parseSchema(JSON.parse(read('switch.ovsschema'))));
    const options = await prettier.resolveConfig(file);
    expect(await prettier.format(text, { ...options, filepath: file })).toBe(read('switch.ts'));
  });
});

describe('podwire-ovsdb-types', () => {
  async function run(argv: readonly string[], content = '{}'): Promise<readonly [number, string, string]> {
    const written = { output: '', error: '' };
    const code = await runGenerator(argv, {
      readFile: (file) =>
        file === 'missing' ? fs.promises.readFile('/nonexistent/schema', 'utf8') : Promise.resolve(content),
      writeOutput: (text) => void (written.output += text),
      writeError: (text) => void (written.error += text),
    });
    return [code, written.output, written.error];
  }

  test('writes the types of a file', async () => {
    const [code, output, error] = await run(['x'], read('switch.ovsschema'));
    expect([code, error]).toEqual([0, '']);
    expect(output).toContain('export type OpenVSwitchDatabase = {');
  });

  test.each([[[]], [['a', 'b']], [['--unknown']]])('says how it is called after %j', async (argv) => {
    expect(await run(argv)).toEqual([2, '', expect.stringMatching(/^Usage: /)]);
  });

  test('has a help', async () => {
    expect(await run(['--help'])).toEqual([0, expect.stringMatching(/^Usage: /), '']);
  });

  test.each([
    ['is no schema', 'x', '{}', 'x: the schema: expected a name'],
    ['is not JSON', 'x', '{', 'x: Expected property name'],
    ['is not there', 'missing', '', 'missing: ENOENT'],
  ])('names a file that %s', async (_name, file, content, message) => {
    expect(await run([file], content)).toEqual([
      1,
      '',
      expect.stringContaining(`podwire-ovsdb-types: ${message}`),
    ]);
  });
});
