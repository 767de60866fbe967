/** CNI programs that Podwire installs: how they are known again, tried before they are put in place, and removed. */
import { execFile } from 'node:child_process';
import fs from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { PodwireError } from '@podwire/errors';
import { compact } from '@podwire/platform';
import { type FileChange, installFile, readIfExists, removeFile, removeLeftovers } from './install-files.js';

/** It is in every form of every plugin: in a text of the compiled ones, in the second line of openshift-sdn.js. */
const PLUGIN_MARK = 'Podwire CNI plugin ';
const START_MILLISECONDS = 10_000;
/** Linux takes 255 bytes of a script's first line. */
const INTERPRETER_LIMIT = 250;
const ELF = Buffer.from('\x7fELF');

/** `auto` is the static program where it is built and runs, else the JavaScript twin. */
export type PluginChoice = 'c' | 'js' | 'auto';

export interface FoldersOptions {
  /** Where the runtime looks for plugins, `/opt/cni/bin`. Made if missing. */
  readonly cniBinDir: string;
  /** Where the runtime looks for network configurations, `/etc/cni/net.d`. Made if missing. */
  readonly cniConfDir: string;
  /** Replaces or removes files at our names that Podwire did not write. */
  readonly force?: boolean;
}

export interface ProgramOptions extends FoldersOptions {
  /** The folder with the built programs; `bin` of the checkout unless given. */
  readonly pluginDir?: string;
  readonly plugin?: PluginChoice;
  readonly signal?: AbortSignal;
}

export interface InstallResult {
  readonly plugin: 'c' | 'js';
  /** In the order in which it was done. */
  readonly changes: readonly FileChange[];
}

export const isOwnPlugin = (content: Buffer): boolean => content.includes(PLUGIN_MARK);

const checkoutBin = (): string => path.resolve(import.meta.dirname, '../../../../../bin');

/** Gives errors of the system the words that people need; coded errors pass as they are. */
export async function explain<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof PodwireError) throw error;
    throw new PodwireError('INSTALL_FAILED', `cannot ${what}`, { cause: error });
  }
}

/** @throws PodwireError INSTALL_REFUSED */
export async function refuseForeign(file: string, isOwn: (content: Buffer) => boolean): Promise<void> {
  const content = await readIfExists(file);
  if (content === undefined || isOwn(content)) return;
  throw new PodwireError('INSTALL_REFUSED', `${file} was not written by Podwire, or was changed since`, {
    details: { file },
  });
}

/** Removes a file that is ours; another one is kept. */
export async function removeOwn(file: string, isOwn: (content: Buffer) => boolean): Promise<FileChange> {
  await removeLeftovers(file);
  const content = await readIfExists(file);
  if (content === undefined) return { path: file, action: 'absent' };
  return isOwn(content) ? removeFile(file) : { path: file, action: 'kept' };
}

/** Puts a program in place once it has answered VERSION. */
export function installProgram(file: string, content: Buffer, signal?: AbortSignal): Promise<FileChange> {
  return installFile(file, content, { mode: 0o755, verify: (temporary) => verifyPlugin(temporary, signal) });
}

interface Program {
  readonly kind: 'c' | 'js';
  readonly content: Buffer;
}

/** Takes one of the two forms of a plugin. @throws PodwireError INSTALL_FAILED */
export async function chooseProgram(name: string, options: ProgramOptions): Promise<Program> {
  const { plugin = 'auto', pluginDir = checkoutBin(), signal } = options;
  const program = path.join(pluginDir, name);
  const content = await readIfExists(program);
  const isCompiled = content?.subarray(0, ELF.length).equals(ELF) ?? false;
  if (plugin === 'c' && !isCompiled)
    throw new PodwireError('INSTALL_FAILED', `${program} is no compiled program; build it: npm run setup`);
  const useProgram = plugin === 'c' || (plugin === 'auto' && isCompiled && (await runsHere(program, signal)));
  if (useProgram && content !== undefined) return { kind: 'c', content };
  return { kind: 'js', content: await readScript(pluginDir, `${name}.js`) };
}

/** False for a program of another processor, say. */
const runsHere = (file: string, signal: AbortSignal | undefined): Promise<boolean> =>
  askVersions(file, signal).then(
    (stdout) => stdout.includes('supportedVersions'),
    () => false,
  );

/** A script of the checkout, which runs with the Node that runs now. @throws PodwireError INSTALL_FAILED */
async function readScript(pluginDir: string, name: string): Promise<Buffer> {
  const file = path.join(pluginDir, name);
  const script = await readIfExists(file);
  if (script !== undefined) return withInterpreter(script, process.execPath);
  throw new PodwireError('INSTALL_FAILED', `${file} does not exist; build it: npm run setup`);
}

/** Runtimes run with a PATH of their own, in which Node may not be; so the script names the one that runs now. */
export function withInterpreter(script: Buffer, interpreter: string): Buffer {
  if (/\s/.test(interpreter) || Buffer.byteLength(interpreter) > INTERPRETER_LIMIT) return script;
  const end = script.indexOf('\n');
  return Buffer.concat([Buffer.from(`#!${interpreter}`), script.subarray(end)]);
}

const run = promisify(execFile);

/** Asks a plugin for its versions, and returns what it prints. */
async function askVersions(file: string, signal: AbortSignal | undefined): Promise<string> {
  const env = { CNI_COMMAND: 'VERSION' };
  const asked = run(file, [], { env, timeout: START_MILLISECONDS, ...compact({ signal }) });
  // A plugin may read its standard input to the end.
  asked.child.stdin?.on('error', () => undefined).end('{"cniVersion":"0.3.1"}');
  const { stdout } = await asked;
  return stdout;
}

/** The folder may be mounted `noexec`; better to say so before the runtime is told to use it. */
async function verifyPlugin(file: string, signal: AbortSignal | undefined): Promise<void> {
  await fs.access(file, fs.constants.X_OK);
  const stdout = await askVersions(file, signal);
  if (!stdout.includes('supportedVersions'))
    throw new PodwireError('INSTALL_FAILED', `${file} does not answer VERSION; it was not put in place`);
}
