import path from 'node:path';
import { defineConfig } from 'vitest/config';
import { listEntries } from './scripts/test/entries.mjs';

const root = import.meta.dirname;

/** Unit tests run the sources as they are: every export of `@podwire/x` means its source, not its build. */
const alias = listEntries(root).map(({ specifier, source }) => ({
  find: new RegExp(`^${specifier}$`),
  replacement: source,
}));

/** `npm run test:unit`: no tests with the tag `long`, and a tenth of the runs of each property. */
const isQuick = process.env.PODWIRE_TEST_QUICK === '1';
const fewerRuns = { find: /^fast-check$/, replacement: path.join(root, 'scripts/test/quick-fast-check.mjs') };

const include = ['packages/**/test/**/*.test.ts', 'plugin/test/**/*.test.ts', 'scripts/**/*.test.mjs'];
const exclude = [
  ...['**/*.ns.test.ts', '**/*.system.test.ts', '**/*.kubernetes.test.ts'],
  ...['**/node_modules/**', '**/dist/**'],
];
/** Files that replace a module (`vi.mock`). */
const mocked = '**/*.mocked.test.ts';

export default defineConfig({
  resolve: { alias: isQuick ? [...alias, fewerRuns] : alias },
  test: {
    projects: [
      // Isolated files each load all modules anew, which takes four times as long as their tests.
      { extends: true, test: { name: 'shared', include, exclude: [...exclude, mocked], isolate: false } },
      { extends: true, test: { name: 'mocked', include: [mocked], exclude, isolate: true } },
    ],
    tags: [
      { name: 'long', description: 'takes more than a second, or much memory; only `npm test` runs it' },
    ],
    tagsFilter: isQuick ? ['!long'] : [],
    // Transformed sources are kept in node_modules: most of what a run costs that follows a small change.
    experimental: { fsModuleCache: true },
    maxWorkers: 2,
    // A busy machine is no failure; what hangs is still ended.
    testTimeout: 60_000,
    // Removing what the tests of a file have made waits for the disk as they do.
    hookTimeout: 60_000,
    expect: { poll: { timeout: 30_000 } },
  },
});
