/**
 * Builds the plugins, from C and as JavaScript. `scripts/setup.mjs` calls this; so do the tests, with a socket of their own.
 */
import { execFile } from 'node:child_process';
import fs from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';

const run = promisify(execFile);
const COMPILE_MILLISECONDS = 60_000;

interface Recipe {
  /** Of the compiled program; the JavaScript begins with the file `NAME.ts`. */
  readonly sources: readonly string[];
  /** Where the agent is asked, unless a configuration says it: its name in both programs, and its usual value. */
  readonly place?: readonly [name: string, usual: string];
  /** The second line of the JavaScript. */
  readonly banner?: string;
}

const recipes = {
  'podwire-cni': {
    sources: ['podwire-cni.c', 'json.c', 'streams.c'],
    place: ['DEFAULT_SOCKET', '/run/podwire/cni.sock'],
  },
  'openshift-sdn': {
    sources: [
      'openshift-sdn.c',
      'failure.c',
      'http.c',
      'indent.c',
      'json.c',
      'output.c',
      'streams.c',
      'version.c',
    ],
    place: ['RUN_DIRECTORY', '/var/run/openshift-sdn/cniserver'],
    // `podwire install` and `podwire uninstall` know their own programs by it.
    banner: '// Podwire CNI plugin openshift-sdn',
  },
  'kube-ovn': {
    sources: [
      ...['kube-ovn.c', 'failure.c', 'http.c', 'indent.c', 'json.c'],
      ...['lease.c', 'output.c', 'question.c', 'streams.c', 'version.c'],
    ],
    banner: '// Podwire CNI plugin kube-ovn',
  },
} as const satisfies Record<string, Recipe>;

export type ProgramName = keyof typeof recipes;

export interface BuildOptions {
  readonly program: ProgramName;
  /** The folder `plugin` of the checkout. */
  readonly sources: string;
  /** The file to write. It is replaced at once, so that a copy that is running is not disturbed. */
  readonly output: string;
  /** Version of the plugin, `0.1.0`. */
  readonly version: string;
  /** The socket of `podwire-cni` where the configuration names none, or the directory of that of `openshift-sdn`. */
  readonly place?: string;
  readonly signal?: AbortSignal;
}

export interface Compiler {
  readonly program: string;
  readonly libc: 'musl' | 'glibc';
}

/**
 * musl first: a static program of glibc asks the processor for its features when it starts (CPUID), and on a virtual
 * machine each question is an exit to the hypervisor. Measured: an empty program starts in 0.13 ms with musl, 0.42 with glibc.
 */
const COMPILERS: readonly Compiler[] = [
  { program: 'musl-gcc', libc: 'musl' },
  { program: 'gcc', libc: 'glibc' },
  { program: 'cc', libc: 'glibc' },
];

const FLAGS = [
  ...['-std=c11', '-O2', '-static', '-s'],
  ...['-Wall', '-Wextra', '-Wpedantic', '-Wshadow', '-Wconversion', '-Wstrict-prototypes', '-Werror'],
];

async function isProgram(file: string): Promise<boolean> {
  return fs.access(file, fs.constants.X_OK).then(
    () => true,
    () => false,
  );
}

async function findProgram(name: string, folders: readonly string[]): Promise<string | undefined> {
  for (const folder of folders) if (await isProgram(path.join(folder, name))) return path.join(folder, name);
  return undefined;
}

/** The compilers that stand in `searchPath` (as of PATH), the best first. */
export async function findCompilers(searchPath: string = process.env['PATH'] ?? ''): Promise<Compiler[]> {
  const folders = searchPath.split(':').filter((folder) => folder !== '');
  const found: Compiler[] = [];
  for (const compiler of COMPILERS) {
    const program = await findProgram(compiler.program, folders);
    if (program !== undefined) found.push({ ...compiler, program });
  }
  return found;
}

const recipeOf = ({ program }: BuildOptions): Recipe => recipes[program];

/** Constants of a program, by their names. */
function constantsOf(options: BuildOptions): (readonly [name: string, value: string])[] {
  const { place } = recipeOf(options);
  const version = ['PODWIRE_VERSION', options.version] as const;
  return place === undefined ? [version] : [version, [place[0], options.place ?? place[1]]];
}

/** Writes the static program. Throws with the compiler's own words when it refuses. */
export async function compileProgram(compiler: Compiler, options: BuildOptions): Promise<void> {
  const temporary = `${options.output}.${process.pid}.tmp`;
  const defines = constantsOf(options).map(([name, value]) => `-D${name}="${value}"`);
  const sources = recipeOf(options).sources.map((name) => path.join(options.sources, name));
  const limits = {
    timeout: COMPILE_MILLISECONDS,
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  };
  try {
    await run(compiler.program, [...FLAGS, ...defines, '-o', temporary, ...sources], limits);
    await fs.rename(temporary, options.output);
  } finally {
    await fs.rm(temporary, { force: true });
  }
}

/** Writes the twin: one file of JavaScript that runs without an extension, as CommonJS and as an ES module. */
export async function bundleTwin(options: BuildOptions): Promise<void> {
  const { program, sources, output } = options;
  const { banner } = recipeOf(options);
  const bundled = await build({
    entryPoints: [path.join(sources, `${program}.ts`)],
    bundle: true,
    write: false,
    platform: 'node',
    target: 'node20',
    format: 'iife',
    banner: { js: ['#!/usr/bin/env node', ...(banner === undefined ? [] : [banner])].join('\n') },
    define: Object.fromEntries(constantsOf(options).map(([name, value]) => [name, JSON.stringify(value)])),
    logLevel: 'silent',
  });
  const temporary = `${output}.${process.pid}.tmp`;
  const [file] = bundled.outputFiles;
  if (file === undefined) throw new Error('esbuild wrote no file');
  await fs.writeFile(temporary, file.contents, { mode: 0o755 });
  await fs.rename(temporary, output);
}
