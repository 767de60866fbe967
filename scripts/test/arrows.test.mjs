/** The rules of `.dependency-cruiser.cjs`: they see every import, and they allow what a package declares. */
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runNode } from './children.mjs';
import { listEntries, resolveToSources } from './entries.mjs';

const root = path.resolve(import.meta.dirname, '../..');
const config = path.join(root, '.dependency-cruiser.cjs');
const readManifest = (folder) => JSON.parse(fs.readFileSync(path.join(root, folder, 'package.json'), 'utf8'));
const packages = readManifest('.').workspaces.map((folder) => ({ folder, ...readManifest(folder) }));

describe('the sources that the rules look at', () => {
  it('are found for every entry of every package', () => {
    const { alias } = resolveToSources(root);
    const missing = packages
      .flatMap(({ name, exports = {} }) => Object.keys(exports).map((entry) => `${name}${entry.slice(1)}`))
      .filter((specifier) => !fs.existsSync(alias[`${specifier}$`] ?? ''));
    expect(missing).toEqual([]);
  });
});

describe('the arrows', () => {
  const { forbidden } = createRequire(import.meta.url)(config);
  const sources = listEntries(root).map(({ specifier, source }) => ({
    name: /^@[^/]+\/[^/]+/.exec(specifier)[0],
    source: path.relative(root, source),
  }));

  it.each(packages)('of $name are the packages that it declares', ({ folder, name, dependencies = {} }) => {
    const rules = forbidden.filter(({ from }) => from.path === `^${folder}/src/`);
    expect(rules).toHaveLength(1);
    const isAllowed = new RegExp(rules[0].to.pathNot);
    const allowed = sources.filter(({ source }) => isAllowed.test(source)).map((each) => each.name);
    const declared = Object.keys(dependencies).filter((each) => each.startsWith('@podwire/'));
    expect([...new Set(allowed)].sort()).toEqual([name, ...declared].sort());
  });
});

/** The build of a package is there too, as in a checkout. No rule looks at it. */
const builtEngine = {
  'node_modules/@podwire/engine/package.json': '{ "name": "@podwire/engine" }',
  'node_modules/@podwire/engine/hidden.js': '',
};
const entry = (file) => ({ types: `./dist/src/${file}.d.ts`, default: `./dist/src/${file}.js` });
const manifest = (name, exports) => JSON.stringify({ name: `@podwire/${name}`, exports });
const folders = ['packages/errors', 'packages/engine', 'packages/backends/linux', 'packages/networks/routed'];
const workspace = {
  ...builtEngine,
  'package.json': JSON.stringify({ workspaces: folders }),
  'packages/errors/package.json': manifest('errors', { '.': entry('index') }),
  'packages/errors/src/index.ts': 'export const a = 1;',
  'packages/engine/package.json': manifest('engine', {
    '.': entry('index'),
    './checks': entry('checks/index'),
  }),
  'packages/engine/src/index.ts': 'export type Plan = 1;',
  'packages/engine/src/checks/index.ts': 'export type Check = 1;',
  'packages/engine/src/fake/index.ts': 'export const fake = 1;',
  'packages/backends/linux/package.json': manifest('backend-linux', {
    '.': entry('index'),
    './resources': entry('resources'),
    './keys': entry('keys'),
  }),
  'packages/backends/linux/src/index.ts': 'export type Kernel = 1;',
  'packages/backends/linux/src/resources.ts': 'export type Link = 1;',
  'packages/backends/linux/src/keys.ts': 'export const key = 1;',
  'packages/networks/routed/package.json': manifest('network-routed', { '.': entry('index') }),
  'packages/networks/routed/src/index.ts': [
    "import { key } from '@podwire/backend-linux/keys';",
    "import type { Link } from '@podwire/backend-linux/resources';",
  ].join('\n'),
};

const faults = [
  {
    title: 'an import by sub-path that no arrow allows',
    file: 'packages/errors/src/a.ts',
    text: "import { check } from '@podwire/engine/checks';",
    rule: 'errors-looks-down-only',
    to: 'packages/engine/src/checks/index.ts',
  },
  {
    title: 'an import of types alone',
    file: 'packages/errors/src/b.ts',
    text: "import type { Check } from '@podwire/engine/checks';",
    rule: 'errors-looks-down-only',
    to: 'packages/engine/src/checks/index.ts',
  },
  {
    title: 'an import within a type',
    file: 'packages/errors/src/c.ts',
    text: "export type A = import('@podwire/engine/checks').Check;",
    rule: 'errors-looks-down-only',
    to: 'packages/engine/src/checks/index.ts',
  },
  {
    title: 'a model that takes more of a backend than its data',
    file: 'packages/networks/routed/src/a.ts',
    text: "import type { Kernel } from '@podwire/backend-linux';",
    rule: 'networks-routed-looks-down-only',
    to: 'packages/backends/linux/src/index.ts',
  },
  {
    title: 'data of a backend that needs code',
    file: 'packages/backends/linux/src/sysctl/resources.ts',
    text: "import fs from 'node:fs';",
    rule: 'data-for-models-is-pure',
    to: 'fs',
  },
  {
    title: 'a sub-path that only the build answers for',
    file: 'packages/networks/routed/src/b.ts',
    text: "import { hidden } from '@podwire/engine/hidden.js';",
    rule: 'only-exported-entries',
    to: '@podwire/engine/hidden.js',
  },
  {
    title: 'a way around the entries of a package',
    file: 'packages/networks/routed/src/c.ts',
    text: "import type { Plan } from '../../../engine/src/index.js';",
    rule: 'packages-meet-at-entries',
    to: 'packages/engine/src/index.ts',
  },
  {
    title: 'a fake in production code',
    file: 'packages/engine/src/a.ts',
    text: "import { fake } from './fake/index.js';",
    rule: 'no-fakes-in-production',
    to: 'packages/engine/src/fake/index.ts',
  },
];

describe('dependency-cruiser', { tags: ['long'] }, () => {
  let folder;
  let found;
  beforeAll(async () => {
    folder = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), 'podwire-arrows-'));
    const files = { ...workspace, ...Object.fromEntries(faults.map(({ file, text }) => [file, text])) };
    for (const [file, text] of Object.entries(files)) {
      fs.mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
      fs.writeFileSync(path.join(folder, file), text);
    }
    const report = path.join(folder, 'report.json');
    const program = path.join(root, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs');
    const parameters = ['--config', config, '--output-type', 'json', '--output-to', report, 'packages'];
    await runNode([program, ...parameters], { cwd: folder, seconds: 300 });
    found = JSON.parse(fs.readFileSync(report, 'utf8')).summary.violations.map(({ rule, from, to }) => ({
      rule: rule.name,
      file: from,
      to,
    }));
  });
  afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

  it.each(faults)('finds $title', ({ file, rule, to }) => {
    expect(found).toContainEqual({ rule, file, to });
  });

  it('finds nothing else', () => {
    expect(found).toHaveLength(faults.length);
  });
});
