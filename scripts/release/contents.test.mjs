import { describe, expect, it } from 'vitest';
import { findPackageFaults } from './contents.mjs';

const manifest = {
  name: '@podwire/a',
  version: '1.0.0',
  license: 'Apache-2.0',
  exports: { '.': { types: './dist/src/index.d.ts', default: './dist/src/index.js' } },
  dependencies: { '@podwire/b': '1.0.0', zod: '^4.0.0' },
};
const files = ['package.json', 'README.md', 'LICENSE', 'dist/src/index.d.ts', 'dist/src/index.js'];

const release = { version: '1.0.0', released: ['@podwire/a', '@podwire/b'] };

describe('findPackageFaults', () => {
  it('accepts a package with README, licence, types and code', () => {
    expect(findPackageFaults(manifest, files, release)).toEqual([]);
  });

  it.each([
    ['a missing README', {}, files.filter((file) => file !== 'README.md'), /README.md is missing/],
    ['a missing type file', {}, files.filter((file) => !file.endsWith('.d.ts')), /index.d.ts is missing/],
    ['a test', {}, [...files, 'dist/src/x.test.js'], /does not belong/],
    ['an export without types', { exports: { '.': { default: './dist/src/index.js' } } }, files, /no types/],
    ['another version', { version: '1.0.1' }, files, /version 1.0.1/],
    [
      'a dependency of another version',
      { dependencies: { '@podwire/b': '0.9.0' } },
      files,
      /depends on @podwire\/b/,
    ],
    [
      'a dependency that is private',
      { dependencies: { '@podwire/c': '1.0.0' } },
      files,
      /c, which is private/,
    ],
  ])('reports %s', (_what, change, packed, message) => {
    expect(findPackageFaults({ ...manifest, ...change }, packed, release).join('\n')).toMatch(message);
  });
});
