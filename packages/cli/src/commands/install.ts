import { execFile } from 'node:child_process';
import fs from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { validateNetworkName } from '@podwire/cni';
import { describeError, PodwireError } from '@podwire/errors';
import { compact } from '@podwire/platform';
import {
  DEFAULT_NAME,
  DEFAULT_SOCKET,
  IPAM_TYPE,
  isOwnConflist,
  PLUGIN_TYPE,
  renderConflist,
} from './install-conflist.js';
import {
  ensureFolder,
  type FileChange,
  installFile,
  readIfExists,
  removeFile,
  removeLeftovers,
  removeMadeFolder,
} from './install-files.js';

const CONFLIST = '10-podwire.conflist';
/** Every form of the plugin says this of itself when it is started without CNI_COMMAND. */
const PLUGIN_MARK = 'Podwire CNI plugin ';
const ELF = Buffer.from('\x7fELF');
const START_MILLISECONDS = 10_000;
/** Linux takes 255 bytes of a script's first line. */
const INTERPRETER_LIMIT = 250;

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

export interface InstallOptions extends FoldersOptions {
  /** The agent's CNI socket; `/run/podwire/cni.sock` unless given. */
  readonly socket?: string;
  /** The network's name; `podwire` unless given. */
  readonly name?: string;
  readonly plugin?: PluginChoice;
  /** The folder with the built `podwire-cni` and `podwire-cni.js`; `bin` of the checkout unless given. */
  readonly pluginDir?: string;
  readonly signal?: AbortSignal;
}

export interface InstallResult {
  readonly plugin: 'c' | 'js';
  /** In the order in which it was done. */
  readonly changes: readonly FileChange[];
}

export interface UninstallResult {
  /** `kept` is a file that Podwire did not write, or that was changed since. */
  readonly changes: readonly FileChange[];
}

interface Plugin {
  readonly kind: 'c' | 'js';
  readonly content: Buffer;
}

/**
 * Installs the plugin and then its network configuration, which is the sign for the runtime that it may begin. Doing it again
 * changes nothing; doing it with other options replaces what was installed. Running calls are not disturbed.
 * @throws PodwireError CONFIG_INVALID, INSTALL_REFUSED (a file of others is in the way), INSTALL_FAILED
 */
export async function installPlugin(options: InstallOptions): Promise<InstallResult> {
  const conflist = renderConflist(validate(options));
  const { plugins, conflist: conflistFile } = filesOf(options);
  return explain('install', async () => {
    if (!options.force) {
      for (const file of plugins) await refuseForeign(file, isOwnPlugin);
      await refuseForeign(conflistFile, isOwnText);
    }
    const plugin = await choosePlugin(options);
    const verify = (file: string) => verifyPlugin(file, options.signal);
    const changes = [await ensureFolder(options.cniBinDir), await ensureFolder(options.cniConfDir)];
    for (const file of [...plugins, conflistFile]) await removeLeftovers(file);
    for (const file of plugins)
      changes.push(await installFile(file, plugin.content, { mode: 0o755, verify }));
    changes.push(await installFile(conflistFile, Buffer.from(conflist), { mode: 0o644 }));
    return { plugin: plugin.kind, changes };
  });
}

/**
 * Removes what {@link installPlugin} made, the network configuration first: folders too, where it made them and they
 * are empty. Nothing is left to do the second time.
 * @throws PodwireError INSTALL_FAILED
 */
export async function uninstallPlugin(options: FoldersOptions): Promise<UninstallResult> {
  const { plugins, conflist } = filesOf(options);
  return explain('uninstall', async () => {
    const changes = [await removeOwn(conflist, options.force === true ? () => true : isOwnText)];
    for (const file of plugins)
      changes.push(await removeOwn(file, options.force === true ? () => true : isOwnPlugin));
    for (const folder of [options.cniConfDir, options.cniBinDir]) {
      const made = await removeMadeFolder(path.resolve(folder));
      changes.push(...made);
    }
    return { changes };
  });
}

const filesOf = ({ cniBinDir, cniConfDir }: FoldersOptions) => ({
  plugins: [PLUGIN_TYPE, IPAM_TYPE].map((name) => path.resolve(cniBinDir, name)),
  conflist: path.resolve(cniConfDir, CONFLIST),
});

/** Gives errors of the system the words that people need; coded errors pass as they are. */
async function explain<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof PodwireError) throw error;
    throw new PodwireError('INSTALL_FAILED', `cannot ${what}`, { cause: error });
  }
}

function validate({ name = DEFAULT_NAME, socket = DEFAULT_SOCKET }: InstallOptions) {
  try {
    validateNetworkName(name);
  } catch (error) {
    throw new PodwireError('CONFIG_INVALID', describeError(error), { details: { field: 'name' } });
  }
  const usable = path.isAbsolute(socket) && !socket.includes('\0') && Buffer.byteLength(socket) <= 107;
  if (!usable) {
    const message = `the socket must be an absolute path of at most 107 bytes, not ${JSON.stringify(socket)}`;
    throw new PodwireError('CONFIG_INVALID', message, { details: { field: 'socket' } });
  }
  return { name, socket };
}

const isOwnPlugin = (content: Buffer): boolean => content.includes(PLUGIN_MARK);
const isOwnText = (content: Buffer): boolean => isOwnConflist(content.toString());

async function refuseForeign(file: string, isOwn: (content: Buffer) => boolean): Promise<void> {
  const content = await readIfExists(file);
  if (content === undefined || isOwn(content)) return;
  throw new PodwireError('INSTALL_REFUSED', `${file} was not written by Podwire, or was changed since`, {
    details: { file },
  });
}

async function removeOwn(file: string, isOwn: (content: Buffer) => boolean): Promise<FileChange> {
  await removeLeftovers(file);
  const content = await readIfExists(file);
  if (content === undefined) return { path: file, action: 'absent' };
  return isOwn(content) ? removeFile(file) : { path: file, action: 'kept' };
}

const checkoutBin = (): string => path.resolve(import.meta.dirname, '../../../../../bin');

async function choosePlugin(options: InstallOptions): Promise<Plugin> {
  const { plugin = 'auto', pluginDir = checkoutBin(), signal } = options;
  const program = path.join(pluginDir, 'podwire-cni');
  const content = await readIfExists(program);
  const isCompiled = content?.subarray(0, ELF.length).equals(ELF) ?? false;
  if (plugin === 'c' && !isCompiled)
    throw new PodwireError('INSTALL_FAILED', `${program} is no compiled program; build it: npm run setup`);
  const useProgram = plugin === 'c' || (plugin === 'auto' && isCompiled && (await runsHere(program, signal)));
  if (useProgram && content !== undefined) return { kind: 'c', content };
  const twin = path.join(pluginDir, 'podwire-cni.js');
  const script = await readIfExists(twin);
  if (script === undefined)
    throw new PodwireError('INSTALL_FAILED', `${twin} does not exist; build it: npm run setup`);
  return { kind: 'js', content: withInterpreter(script, process.execPath) };
}

/** Runtimes run with a PATH of their own, in which Node may not be; so the script names the one that runs now. */
export function withInterpreter(script: Buffer, interpreter: string): Buffer {
  if (/\s/.test(interpreter) || Buffer.byteLength(interpreter) > INTERPRETER_LIMIT) return script;
  const end = script.indexOf('\n');
  return Buffer.concat([Buffer.from(`#!${interpreter}`), script.subarray(end)]);
}

const run = promisify(execFile);

async function askVersions(file: string, signal: AbortSignal | undefined): Promise<string> {
  const env = { CNI_COMMAND: 'VERSION' };
  const options = { env, timeout: START_MILLISECONDS, ...compact({ signal }) };
  const { stdout } = await run(file, [], options);
  return stdout;
}

/** False for a program of another processor, say. */
const runsHere = (file: string, signal: AbortSignal | undefined): Promise<boolean> =>
  askVersions(file, signal).then(
    (stdout) => stdout.includes('supportedVersions'),
    () => false,
  );

/** The folder may be mounted `noexec`; better to say so before the runtime is told to use it. */
async function verifyPlugin(file: string, signal: AbortSignal | undefined): Promise<void> {
  await fs.access(file, fs.constants.X_OK);
  const stdout = await askVersions(file, signal);
  if (!stdout.includes('supportedVersions'))
    throw new PodwireError('INSTALL_FAILED', `${file} does not answer VERSION; it was not put in place`);
}
