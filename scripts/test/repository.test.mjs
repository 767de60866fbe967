import { describe, expect, it } from 'vitest';
import { archiveFaults, dependencyFaults, referenceFaults } from './repository.mjs';

const entry = { types: './dist/src/index.d.ts', default: './dist/src/index.js' };
const manifest = { files: ['dist/src', 'CHANGELOG.md'], exports: { '.': entry } };
const faultsOf = (change) => archiveFaults('packages/a', { ...manifest, ...change }).join('\n');

describe('archiveFaults', () => {
  it.each([
    ['a package with a changelog and an entry', {}],
    [
      'a package that is loaded by main and types',
      { exports: undefined, main: './dist/src/index.js', types: './dist/src/index.d.ts' },
    ],
    ['a private package without any of it', { private: true, files: undefined, exports: undefined }],
  ])('accepts %s', (_what, change) => {
    expect(faultsOf(change)).toBe('');
  });

  it.each([
    ['a missing changelog', { files: ['dist/src'] }, /does not list CHANGELOG.md in files/],
    ['missing files', { files: undefined }, /does not list CHANGELOG.md in files/],
    ['an entry that is not packed', { files: ['CHANGELOG.md'] }, /dist\/src\/index.js in files/],
    [
      'a folder whose name only begins the same',
      { files: ['dist/s', 'CHANGELOG.md'] },
      /does not list dist\/src\/index.d.ts/,
    ],
    ['a program that is not packed', { bin: { a: './bin/a.js' } }, /does not list bin\/a.js/],
    ['a package without an entry', { exports: undefined }, /no types and code for its entry "\."/],
    ['exports without the package itself', { exports: { './x': entry } }, /no entry "\." in exports/],
    ['an entry without types', { exports: { '.': { default: './dist/src/index.js' } } }, /no types and code/],
    ['an entry without code', { exports: { '.': { types: './dist/src/index.d.ts' } } }, /no types and code/],
    [
      'a main without types',
      { exports: undefined, main: './dist/src/index.js' },
      /no types and code for its entry "\."/,
    ],
  ])('finds %s', (_what, change, message) => {
    expect(faultsOf(change)).toMatch(message);
  });
});

describe('dependencyFaults', () => {
  const faultsFor = (text, dependencies) =>
    dependencyFaults('packages/a', { name: '@podwire/a', dependencies }, [text]);

  it.each([
    ["import { b } from '@podwire/b';"],
    ["import { b } from '@podwire/b/testing';"],
    ["import type { B } from '@podwire/b/testing';"],
    ["import {\n  type B,\n  b,\n} from '@podwire/b';"],
    ["import '@podwire/b';"],
    ["export * from '@podwire/b/testing';"],
    ["export type A = import('@podwire/b').B;"],
    ["const b = await import('@podwire/b/testing');"],
  ])('counts %j as an import', (text) => {
    const undeclared = 'packages/a/package.json does not declare @podwire/b, which its sources import';
    expect(faultsFor(text)).toEqual([undeclared]);
    expect(faultsFor(text, { '@podwire/b': '1.0.0' })).toEqual([]);
  });

  it('finds a dependency that is not imported', () => {
    const unused = 'packages/a/package.json declares @podwire/b, which its sources do not import';
    expect(
      faultsFor("import { c } from '@podwire/b-c';", { '@podwire/b': '1', '@podwire/b-c': '1' }),
    ).toEqual([unused]);
  });

  it('takes files, Node and the package itself for no dependencies', () => {
    const text = "import './b.js';\nimport fs from 'node:fs';\nimport { c } from '@podwire/a/testing';";
    expect(faultsFor(text)).toEqual([]);
  });
});

describe('referenceFaults', () => {
  const folderOf = new Map([['@podwire/b', 'packages/b']]);
  const find = (dependencies, references) =>
    referenceFaults('packages/a', { dependencies }, references, folderOf);

  it('accepts a reference for each dependency of the workspace', () => {
    expect(find({ '@podwire/b': '1', zod: '1' }, [{ path: '../b' }])).toEqual([]);
  });

  it('finds what is missing and what is too much', () => {
    expect(find({ '@podwire/b': '1' }, [{ path: '../c' }])).toEqual([
      'packages/a/tsconfig.json has no reference to packages/b, which it depends on',
      'packages/a/tsconfig.json has a reference to packages/c, which it does not depend on',
    ]);
  });
});
