import fs from 'node:fs';
import path from 'node:path';
import { defineConfig } from 'vitest/config';

const root = import.meta.dirname;
const readManifest = (folder) => JSON.parse(fs.readFileSync(path.join(root, folder, 'package.json'), 'utf8'));

/** Unit tests run the sources as they are: every export of `@podwire/x` means its source, not its build. */
const alias = readManifest('.').workspaces.flatMap((folder) => {
  const { name, exports = {} } = readManifest(folder);
  return Object.entries(exports).map(([entry, target]) => ({
    find: new RegExp(`^${name}${entry.slice(1)}$`),
    replacement: path.join(root, folder, target.default.replace('dist/src', 'src').replace(/js$/, 'ts')),
  }));
});

export default defineConfig({
  resolve: { alias },
  test: {
    include: ['packages/**/test/**/*.test.ts', 'plugin/test/**/*.test.ts', 'scripts/**/*.test.mjs'],
    exclude: ['**/*.ns.test.ts', '**/*.system.test.ts', '**/node_modules/**', '**/dist/**'],
    maxWorkers: 2,
    // A busy machine is no failure; what hangs is still ended.
    testTimeout: 60_000,
    expect: { poll: { timeout: 30_000 } },
  },
});
