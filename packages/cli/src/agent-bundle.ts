/**
 * The node agent in one file, with the code that V8 has compiled from it. Loading 500 modules takes most of a cold
 * start, and while an agent starts no pod gets a network. `scripts/setup` writes the bundle; it is used only as long as
 * it is made of the compiled files that are there now. This file runs before the bundle, so it loads no other package.
 */
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import vm from 'node:vm';

/** Exports of the bundle. */
export interface AgentBundle {
  runMain(argv: readonly string[]): Promise<number>;
  /** Loads all that a start of the agent needs, so that it is compiled. */
  prepare(): Promise<void>;
}

/** Where it is, and what it is made of. Paths are relative to the checkout. */
export interface BundleManifest {
  /** The checkout: paths of files beside the sources are part of the bundle. */
  readonly checkout: string;
  readonly inputs: readonly (readonly [file: string, size: number, modified: number])[];
}

const bundleFiles = { code: 'agent.cjs', cache: 'agent.cache', manifest: 'agent.json' } as const;

/** @returns undefined when there is no bundle or it is older than what it is made of */
export function loadAgentBundle(directory: string, checkout: string): AgentBundle | undefined {
  // V8 finds source maps of modules only.
  if (process.sourceMapsEnabled || !isBundleCurrent(directory, checkout)) return undefined;
  return runScript(compileBundle(directory), directory);
}

export function isBundleCurrent(directory: string, checkout: string): boolean {
  const manifest = readIfThere(path.join(directory, bundleFiles.manifest));
  if (manifest === undefined) return false;
  const { checkout: known, inputs } = JSON.parse(manifest.toString()) as BundleManifest;
  return known === checkout && inputs.every((input) => isUnchanged(checkout, input));
}

function isUnchanged(checkout: string, [file, size, modified]: BundleManifest['inputs'][number]): boolean {
  const found = fs.statSync(path.join(checkout, file), { throwIfNoEntry: false });
  return found?.size === size && found.mtimeMs === modified;
}

/** Describes the files as they are now. */
export function describeInputs(checkout: string, files: readonly string[]): BundleManifest {
  const inputs = files.map((file) => {
    const { size, mtimeMs } = fs.statSync(path.join(checkout, file));
    return [file, size, mtimeMs] as const;
  });
  return { checkout, inputs };
}

/**
 * Writes the compiled code of all that a start needs. V8 takes it only from a process of the same version with the same
 * options; from any other it compiles the source itself.
 */
export async function writeCodeCache(directory: string): Promise<void> {
  const script = compileBundle(directory);
  await runScript(script, directory).prepare();
  const file = path.join(directory, bundleFiles.cache);
  fs.writeFileSync(`${file}.tmp`, script.createCachedData());
  fs.renameSync(`${file}.tmp`, file);
}

function compileBundle(directory: string): vm.Script {
  const filename = path.join(directory, bundleFiles.code);
  // One byte a character: the bundler escapes all others, except in comments.
  const source = fs.readFileSync(filename, 'latin1');
  const cachedData = readIfThere(path.join(directory, bundleFiles.cache));
  return new vm.Script(`(function (exports, require, module) {${source}\n})`, {
    filename,
    ...(cachedData === undefined ? {} : { cachedData }),
    importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
}

type CommonModule = (exports: object, require: NodeJS.Require, module: { exports: object }) => void;

function runScript(script: vm.Script, directory: string): AgentBundle {
  const module = { exports: {} };
  const require = createRequire(path.join(directory, bundleFiles.code));
  (script.runInThisContext() as CommonModule)(module.exports, require, module);
  return module.exports as AgentBundle;
}

function readIfThere(file: string): Buffer | undefined {
  try {
    return fs.readFileSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
