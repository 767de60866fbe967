/** Bundles the node agent into one file, for quick starts and less memory: see packages/cli/src/agent-bundle.ts. */
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { runOrFail } from './run.mjs';

/** npm packages that a node alone never loads, and one with a native part. They stay where npm put them. */
export const externalPackages = [
  'koffi',
  '@grpc/*',
  '@opentelemetry/*',
  'protobufjs',
  'protobufjs/*',
  'lmdb',
  'msgpackr',
];

/** Entry of `bin/podwire agent`, without the other commands. */
const entry = `
export { runMain } from './packages/cli/dist/src/main.js';
export async function prepare() {
  const { parseConfig } = await import('@podwire/agent');
  parseConfig('nodeName: node');
}
`;

/** Writes packages/cli/dist/agent. */
export async function bundleAgent(root, begin) {
  const directory = path.join(root, 'packages/cli/dist/agent');
  const loader = path.join(root, 'packages/cli/dist/src/agent-bundle.js');
  const { describeInputs, isBundleCurrent } = await import(pathToFileURL(loader).href);
  if (isBundleCurrent(directory, root)) return 'up to date';
  begin('bundling');
  fs.rmSync(directory, { recursive: true, force: true });
  const files = await writeBundle(root, path.join(directory, 'agent.cjs'));
  await writeCache(root, loader, directory);
  // Last: without it the rest is not used.
  fs.writeFileSync(path.join(directory, 'agent.json'), JSON.stringify(describeInputs(root, files)));
  return 'bundled';
}

/** Returns the files it is made of: ours one by one, those of npm by what npm says is installed. */
async function writeBundle(root, outfile) {
  const { build } = await import('esbuild');
  const { metafile } = await build({
    stdin: { contents: entry, resolveDir: root },
    outfile,
    absWorkingDir: root,
    bundle: true,
    metafile: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    legalComments: 'none',
    minifySyntax: true,
    external: externalPackages,
    plugins: [otherCommands, ownDirectories],
    logLevel: 'error',
  });
  const own = Object.keys(metafile.inputs).filter((file) => /^packages\//.test(file));
  return [...own, 'scripts/setup/bundle.mjs', 'node_modules/.package-lock.json'];
}

const otherCommands = {
  name: 'other-commands',
  setup(build) {
    build.onResolve({ filter: /^\.\/commands\// }, ({ path: file }) =>
      file === './commands/agent.js' ? undefined : { path: file, external: true },
    );
  },
};

/** Files beside a module are found from where the module was, not from the bundle. */
export const ownDirectories = {
  name: 'own-directories',
  setup(build) {
    build.onLoad({ filter: /\/(packages\/.*|test)\/dist\/.*\.js$/ }, async ({ path: file }) => {
      const text = await fs.promises.readFile(file, 'utf8');
      return { contents: text.replaceAll('import.meta.dirname', JSON.stringify(path.dirname(file))) };
    });
  },
};

/** In a process with the options of bin/podwire: V8 refuses what was compiled with others. */
async function writeCache(root, loader, directory) {
  const [firstLine] = fs.readFileSync(path.join(root, 'bin/podwire'), 'utf8').split('\n', 1);
  const options = firstLine.split(/\bnode /)[1].split(' ');
  const [module, folder] = [pathToFileURL(loader).href, directory].map((text) => JSON.stringify(text));
  const program = `(await import(${module})).writeCodeCache(${folder})`;
  await runOrFail(process.execPath, [...options, '--input-type=module', '--eval', program], { cwd: root });
}
