/**
 * Builds the plugin: `podwire-cni` from C where there is a compiler, and its JavaScript twin always.
 * `scripts/setup.mjs` calls this; so do the tests, with a default socket of their own.
 */
import { execFile } from 'node:child_process';
import fs from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';

const run = promisify(execFile);
const COMPILE_MILLISECONDS = 60_000;

export interface BuildOptions {
  /** The folder `plugin` of the checkout. */
  readonly sources: string;
  /** The file to write. It is replaced at once, so that a copy that is running is not disturbed. */
  readonly output: string;
  /** Version that the plugin reports, `0.1.0`. */
  readonly version: string;
  /** The socket that is used when the configuration names none; `/run/podwire/cni.sock` unless given. */
  readonly defaultSocket?: string;
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

/** Writes the static program. Throws with the compiler's own words when it refuses. */
export async function compileProgram(compiler: Compiler, options: BuildOptions): Promise<void> {
  const temporary = `${options.output}.${process.pid}.tmp`;
  const defines = [`-DPODWIRE_VERSION="${options.version}"`];
  if (options.defaultSocket !== undefined) defines.push(`-DDEFAULT_SOCKET="${options.defaultSocket}"`);
  const source = path.join(options.sources, 'podwire-cni.c');
  const limits = {
    timeout: COMPILE_MILLISECONDS,
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  };
  try {
    await run(compiler.program, [...FLAGS, ...defines, '-o', temporary, source], limits);
    await fs.rename(temporary, options.output);
  } finally {
    await fs.rm(temporary, { force: true });
  }
}

/** Writes the twin of podwire-cni. */
export function bundleTwin({
  defaultSocket = '/run/podwire/cni.sock',
  ...options
}: BuildOptions): Promise<void> {
  const define = {
    PODWIRE_VERSION: JSON.stringify(options.version),
    DEFAULT_SOCKET: JSON.stringify(defaultSocket),
  };
  return bundle('podwire-cni.ts', options, define);
}

export interface OpenshiftBuildOptions extends Pick<BuildOptions, 'sources' | 'output'> {
  /** Of socket and config.json; that of OpenShift SDN unless given. */
  readonly runDirectory?: string;
}

/** Writes the plugin by the name of OpenShift SDN's. */
export function bundleOpenshift({
  runDirectory = '/var/run/openshift-sdn/cniserver',
  ...options
}: OpenshiftBuildOptions): Promise<void> {
  // `podwire install` and `podwire uninstall` know their own programs by the second line.
  const banner = '// Podwire CNI plugin openshift-sdn';
  return bundle('openshift-sdn.ts', options, { RUN_DIRECTORY: JSON.stringify(runDirectory) }, banner);
}

/** Writes one file that runs without an extension, as CommonJS and as an ES module. */
async function bundle(
  entry: string,
  { sources, output }: Pick<BuildOptions, 'sources' | 'output'>,
  define: Readonly<Record<string, string>>,
  ...banner: readonly string[]
): Promise<void> {
  const bundled = await build({
    entryPoints: [path.join(sources, entry)],
    bundle: true,
    write: false,
    platform: 'node',
    target: 'node20',
    format: 'iife',
    banner: { js: ['#!/usr/bin/env node', ...banner].join('\n') },
    define,
    logLevel: 'silent',
  });
  const temporary = `${output}.${process.pid}.tmp`;
  const [file] = bundled.outputFiles;
  if (file === undefined) throw new Error('esbuild wrote no file');
  await fs.writeFile(temporary, file.contents, { mode: 0o755 });
  await fs.rename(temporary, output);
}
