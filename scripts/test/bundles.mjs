/**
 * Agents that tests start by the hundred, each in one file. They load some 500 modules otherwise, which is most of what a start
 * costs; the agent of the product is bundled for the same reason.
 */
import fs from 'node:fs';
import path from 'node:path';
import { externalPackages, ownDirectories } from '../setup/bundle.mjs';
import { compiledOf } from './node-files.mjs';

export const programs = [
  'packages/agent/test/faulty-agent.ts',
  'packages/pod-network/test/support/agent-entry.ts',
  'test/cluster/support/agent-entry.ts',
  'test/faults/support/agent-entry.ts',
  'test/pods/support/cri-service-entry.ts',
  'test/pods/support/pod-agent-entry.ts',
];

/**
 * Bundles them anew: what a test starts is what was compiled last.
 * @returns the environment by which `@podwire/testkit` finds them; nothing where they are not compiled, which each test reports
 */
export async function bundlePrograms(root) {
  const entryPoints = programs.map(compiledOf);
  if (!entryPoints.every((file) => fs.existsSync(path.join(root, file)))) return {};
  const { build } = await import('esbuild');
  // Below node_modules: packages that are not bundled are found from here.
  const directory = path.join(root, 'node_modules/.cache/podwire-test-programs');
  fs.rmSync(directory, { recursive: true, force: true });
  await build({
    entryPoints,
    outdir: directory,
    outbase: root,
    outExtension: { '.js': '.mjs' },
    absWorkingDir: root,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    // The CommonJS among it asks for Node's own modules by `require`.
    banner: {
      js: `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);`,
    },
    external: externalPackages,
    plugins: [ownDirectories],
    logLevel: 'error',
  });
  return { PODWIRE_TEST_PROGRAMS: directory };
}
