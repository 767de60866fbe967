import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type BuildOptions, bundleTwin, compileProgram, findCompilers } from '../build.js';

export interface Program {
  readonly name: string;
  readonly file: string;
  /** How many random inputs and parallel calls it can bear: the twin needs 50 ms and 40 MB for each. */
  readonly cases: number;
  readonly parallel: number;
}

export interface Outcome {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** A path that can never be connected to, and fails at once (ENOTDIR): a default that no test waits for. */
export const DEFAULT_SOCKET = '/dev/null/default';
export const VERSION = '9.8.7';

const plugin = path.resolve(import.meta.dirname, '../..');

export const makeFolder = (): string => fs.mkdtempSync(path.join(os.tmpdir(), 'podwire-plugin-'));

/**
 * Every form in which a plugin exists: C with each C library at hand, the twin as CommonJS and as an ES module. It is
 * podwire-cni with the default socket of the tests unless given.
 */
export async function buildPrograms(
  folder: string,
  { program, place }: Pick<BuildOptions, 'program' | 'place'> = {
    program: 'podwire-cni',
    place: DEFAULT_SOCKET,
  },
): Promise<Program[]> {
  const options = { program, sources: plugin, version: VERSION, ...(place === undefined ? {} : { place }) };
  const programs: Program[] = [];
  const compilers = await findCompilers();
  if (compilers.length === 0) throw new Error('a C compiler is needed: apt-get install gcc libc6-dev');
  for (const compiler of compilers.filter((one) => !one.program.endsWith('/cc'))) {
    const file = path.join(folder, `${program}-${compiler.libc}`);
    await compileProgram(compiler, { ...options, output: file });
    programs.push({ name: `C, ${compiler.libc}`, file, cases: 200, parallel: 200 });
  }
  for (const type of ['commonjs', 'module']) {
    const file = path.join(folder, type, program);
    fs.mkdirSync(path.dirname(file));
    fs.writeFileSync(path.join(folder, type, 'package.json'), JSON.stringify({ type }));
    await bundleTwin({ ...options, output: file });
    programs.push({ name: `JavaScript, ${type}`, file, cases: 10, parallel: 32 });
  }
  return programs;
}

/** Starts a program with exactly this environment (and PATH, which is never carried). */
export function startProgram(
  program: Program,
  environment: Readonly<Record<string, string>>,
  stdio: SpawnOptions['stdio'] = 'pipe',
): ChildProcess {
  const child = spawn(program.file, [], { env: { ...environment, PATH: process.env['PATH'] }, stdio });
  // A program may end without reading its input, as with VERSION.
  child.stdin?.on('error', () => undefined);
  return child;
}

export async function outcomeOf(child: ChildProcess): Promise<Outcome> {
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => stdout.push(chunk));
  child.stderr?.on('data', (chunk: Buffer) => stderr.push(chunk));
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  return { code, signal, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr).toString() };
}

/** One call from start to end. */
export function runProgram(
  program: Program,
  environment: Readonly<Record<string, string>>,
  input: Buffer | string,
): Promise<Outcome> {
  const child = startProgram(program, environment);
  const outcome = outcomeOf(child);
  child.stdin?.end(input);
  return outcome;
}
