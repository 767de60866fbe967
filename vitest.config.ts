import fs from 'node:fs';
import path from 'node:path';
import { defineConfig } from 'vitest/config';

const root = import.meta.dirname;
const workspace = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8')) as {
  workspaces: string[];
};

/** Unit tests run the sources as they are; `@podwire/x` means its `src`, not its build. */
const alias = Object.fromEntries(
  workspace.workspaces.map((folder) => {
    const manifest = JSON.parse(fs.readFileSync(path.join(root, folder, 'package.json'), 'utf8')) as {
      name: string;
    };
    return [manifest.name, path.join(root, folder, 'src/index.ts')];
  }),
);

export default defineConfig({
  resolve: { alias },
  test: {
    include: ['packages/**/test/**/*.test.ts', 'plugin/test/**/*.test.ts'],
    exclude: ['**/*.ns.test.ts', '**/*.system.test.ts', '**/node_modules/**', '**/dist/**'],
    maxWorkers: 2,
  },
});
