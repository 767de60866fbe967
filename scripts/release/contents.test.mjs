import { describe, expect, it } from 'vitest';
import { findPackageFaults, moduleLine } from './contents.mjs';

const origin = (url) => ({ repository: { type: 'git', url }, bugs: { url: 'https://example.org/issues' } });
const workspace = { version: '1.0.0', homepage: 'https://example.org/a#readme', ...origin('git+https://a') };
const manifest = {
  name: '@podwire/a',
  version: '1.0.0',
  license: 'Apache-2.0',
  ...workspace,
  repository: { ...workspace.repository, directory: 'packages/a' },
  homepage: 'https://example.org/a/tree/main/packages/a#readme',
  exports: { '.': { types: './dist/src/index.d.ts', default: './dist/src/index.js' } },
  dependencies: { '@podwire/b': '1.0.0', zod: '^4.0.0' },
};
const texts = {
  'package.json': '{}',
  'README.md': `# a\n\n${moduleLine}\n`,
  LICENSE: '',
  'CHANGELOG.md': '',
  'dist/src/index.d.ts': '',
  'dist/src/index.js': '',
  'dist/src/index.js.map': '{"sources":["../../src/index.ts"]}',
  'src/index.ts': '',
};

const faultsOf = (change, packed) =>
  findPackageFaults(
    { ...manifest, ...change },
    {
      files: Object.keys(packed),
      readText: (file) => packed[file],
      folder: 'packages/a',
      workspace,
      released: ['@podwire/a', '@podwire/b'],
    },
  );
const without = (file) => Object.fromEntries(Object.entries(texts).filter(([name]) => name !== file));

describe('findPackageFaults', () => {
  it('accepts a package with README, licence, changelog, types, code and its sources', () => {
    expect(faultsOf({}, texts)).toEqual([]);
  });

  it.each([
    ['a missing README', {}, without('README.md'), /README.md is missing/],
    ['a missing licence', {}, without('LICENSE'), /LICENSE is missing/],
    ['a missing changelog', {}, without('CHANGELOG.md'), /CHANGELOG.md is missing/],
    ['a missing type file', {}, without('dist/src/index.d.ts'), /index.d.ts is missing/],
    ['a test', {}, { ...texts, 'dist/src/x.test.js': '' }, /x.test.js does not belong/],
    ['a licence below the top', {}, { ...texts, 'dist/LICENSE': '' }, /dist\/LICENSE does not belong/],
    ['a README that does not say what loads it', {}, { ...texts, 'README.md': '# a\n' }, /does not say: ESM/],
    ['a map without its source', {}, without('src/index.ts'), /index.js.map names src\/index.ts, which is/],
    ['an export without types', { exports: { '.': { default: './dist/src/index.js' } } }, texts, /no types/],
    ['another version', { version: '1.0.1' }, texts, /version 1.0.1/],
    ['no repository', { repository: undefined }, texts, /repository, homepage or bugs do not agree/],
    ['another page for bugs', { bugs: { url: 'https://b' } }, texts, /repository, homepage or bugs do not/],
    [
      'a dependency of another version',
      { dependencies: { '@podwire/b': '0.9.0' } },
      texts,
      /depends on @podwire\/b 0.9.0/,
    ],
    [
      'a dependency that is private',
      { dependencies: { '@podwire/c': '1.0.0' } },
      texts,
      /c, which is private/,
    ],
  ])('reports %s', (_what, change, packed, message) => {
    expect(faultsOf(change, packed).join('\n')).toMatch(message);
  });
});
