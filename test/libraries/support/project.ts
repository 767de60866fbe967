/** A project of a user, with the libraries as npm would publish them. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { root, run } from './run.js';

/** The libraries that work on their own. */
export const libraries = [
  'addresses',
  'cni',
  'cri',
  'errors',
  'linux',
  'netlink',
  'nftables',
  'openflow',
] as const;

export const folderOf = (library: string): string => path.join(root, 'packages', library);

interface Manifest {
  readonly name: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

function readManifest(library: string): Manifest {
  return JSON.parse(fs.readFileSync(path.join(folderOf(library), 'package.json'), 'utf8')) as Manifest;
}

/** With the packages of Podwire that they need themselves. */
function withDependencies(names: readonly string[]): readonly string[] {
  const known = new Set(names);
  for (const name of known)
    for (const other of Object.keys(readManifest(name).dependencies ?? {}))
      if (other.startsWith('@podwire/')) known.add(other.replace('@podwire/', ''));
  return [...known];
}

/** As strict as TypeScript's own options make a project. */
const compilerOptions = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noPropertyAccessFromIndexSignature: true,
  noImplicitOverride: true,
  verbatimModuleSyntax: true,
  skipLibCheck: false,
  module: 'nodenext',
  target: 'es2023',
  lib: ['es2023'],
  types: ['node'],
  typeRoots: [path.join(root, 'node_modules/@types')],
  rootDir: '.',
  outDir: 'out',
};

/** A new folder with a package.json and the libraries in its node_modules. */
export async function createProject(names: readonly string[]): Promise<string> {
  const project = fs.mkdtempSync(path.join(os.tmpdir(), 'libraries-'));
  fs.writeFileSync(path.join(project, 'package.json'), '{"name":"a-user","private":true,"type":"module"}');
  fs.writeFileSync(
    path.join(project, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, include: ['**/*.ts', '**/*.cts'], exclude: ['node_modules', 'out'] }),
  );
  const workspaces = withDependencies(names).flatMap((name) => ['--workspace', `packages/${name}`]);
  await run(root, 'npm', 'pack', '--silent', '--pack-destination', project, ...workspaces);
  const archives = fs.readdirSync(project).filter((file) => file.endsWith('.tgz'));
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error', '--ignore-scripts', '--prefer-offline'];
  await run(project, 'npm', 'install', ...quiet, ...archives.map((file) => `./${file}`));
  return project;
}

/** Compiles everything in the project. @throws Error with what the compiler says */
export async function compile(project: string): Promise<void> {
  const compiler = path.join(root, 'node_modules/typescript/lib/tsc.js');
  await run(project, process.execPath, compiler, '-p', '.').catch((error: { stdout?: string }) => {
    throw new Error(error.stdout ?? 'the compiler could not be run', { cause: error });
  });
}
