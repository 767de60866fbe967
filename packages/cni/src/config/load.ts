import fs from 'node:fs/promises';
import path from 'node:path';
import { CniError, errorCodes } from '../error.js';
import { fileLimits, parseJson } from '../json.js';
import {
  assembleNetwork,
  type NetworkConfig,
  parseNetwork,
  parsePlugin,
  parseSinglePlugin,
  type PluginConfig,
} from './network.js';

/** Where container runtimes look for configuration unless told otherwise. */
export const defaultConfigDirectory = '/etc/cni/net.d';

const listExtension = '.conflist';
const singleExtensions = ['.conf', '.json'];
const pluginExtension = '.conf';

/** A file that was passed over, and why. */
export interface SkippedFile {
  readonly file: string;
  readonly error: CniError;
}

/** No network as asked for. `reason` tells an empty directory from a name that no file has. */
export class NetworkNotFoundError extends CniError {
  readonly reason: 'no-files' | 'no-match' | 'none-usable';
  readonly skipped: readonly SkippedFile[];

  constructor(message: string, reason: NetworkNotFoundError['reason'], skipped: readonly SkippedFile[] = []) {
    const details = skipped.map(({ error }) => error.message).join('\n');
    super(errorCodes.invalidNetworkConfig, message, { details: details === '' ? undefined : details });
    this.name = 'NetworkNotFoundError';
    this.reason = reason;
    this.skipped = skipped;
  }
}

/**
 * The configuration files of a directory: `.conf`, `.conflist` and `.json`, sub-directories not searched, in the order
 * of their names by code unit. A directory that does not exist has none.
 * @throws CniError code 5 when it cannot be read.
 */
export async function listConfigFiles(directory: string): Promise<readonly string[]> {
  return listFiles(directory, [listExtension, ...singleExtensions]);
}

async function listFiles(directory: string, extensions: readonly string[]): Promise<readonly string[]> {
  try {
    const entries = await fs.readdir(directory, { withFileTypes: true });
    return entries
      .filter((entry) => !entry.isDirectory() && extensions.includes(path.extname(entry.name)))
      .map((entry) => path.join(directory, entry.name))
      .toSorted((a, b) => (a < b ? -1 : 1));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw cannotRead(directory, error);
  }
}

/** Reads a regular file within the size cap; anything else (a FIFO would block for ever) is refused. */
async function readConfigFile(file: string): Promise<Uint8Array> {
  try {
    const { size, isRegular } = await statFile(file);
    if (!isRegular) throw new Error('is no regular file');
    if (size > fileLimits.maxBytes)
      throw new Error(`is ${size} bytes, at most ${fileLimits.maxBytes} are read`);
    return await fs.readFile(file);
  } catch (error) {
    throw cannotRead(file, error);
  }
}

async function statFile(file: string): Promise<{ size: number; isRegular: boolean }> {
  const stat = await fs.stat(file);
  return { size: stat.size, isRegular: stat.isFile() };
}

function cannotRead(file: string, error: unknown): CniError {
  return new CniError(errorCodes.ioFailure, `${file}: ${(error as Error).message}`, { cause: error });
}

/**
 * Loads one configuration file: `.conflist` as a list, anything else as a single plugin. Unless the list has
 * `loadOnlyInlinedPlugins`, the plugins of `<directory of the file>/<network name>/*.conf` are appended in name order
 * (specification 1.1.0, section 1); one bad file there fails the network.
 * @throws CniError code 5, 6, 7 or 1 whose message begins with the file that is at fault.
 */
export async function loadNetworkFile(file: string): Promise<NetworkConfig> {
  const bytes = await readConfigFile(file);
  if (path.extname(file) !== listExtension) return parseSinglePlugin(bytes, { file });
  const network = parseNetwork(bytes, { file });
  if (network.loadOnlyInlinedPlugins) return network;
  return assembleNamed(network, await loadPluginFolder(path.join(path.dirname(file), network.name)));
}

function assembleNamed(network: NetworkConfig, plugins: readonly PluginConfig[]): NetworkConfig {
  if (network.plugins.length + plugins.length > 0) return assembleNetwork(network, plugins);
  throw new CniError(
    errorCodes.invalidNetworkConfig,
    `${network.file ?? network.name}: network ${network.name} has no plugins, neither in the list nor in its folder`,
  );
}

async function loadPluginFolder(folder: string): Promise<readonly PluginConfig[]> {
  const files = await listFiles(folder, [pluginExtension]);
  return Promise.all(files.map(async (file) => parsePlugin(await readConfigFile(file), { file })));
}

/**
 * Loads the network with this name: the first `.conflist` that has it, else the first `.conf` or `.json`. Files that
 * cannot be used do not stand in the way of others; when the network is not found they are listed in the error.
 * @throws NetworkNotFoundError `no-files` when the directory has no configuration at all, else `no-match`; or the
 *   CniError of the very file that bears the name but is broken.
 */
export async function loadNetwork(directory: string, name: string): Promise<NetworkConfig> {
  const files = await listConfigFiles(directory);
  if (files.length === 0)
    throw new NetworkNotFoundError(`no network configurations in ${directory}`, 'no-files');
  const skipped: SkippedFile[] = [];
  for (const file of files.toSorted(listsFirst)) {
    const outcome = await tryLoad(file);
    if (outcome instanceof CniError) {
      if ((await peekName(file)) === name) throw outcome;
      skipped.push({ file, error: outcome });
    } else if (outcome.name === name) return outcome;
  }
  throw new NetworkNotFoundError(
    `no network named ${JSON.stringify(name)} in ${directory}`,
    'no-match',
    skipped,
  );
}

function listsFirst(a: string, b: string): number {
  return Number(path.extname(b) === listExtension) - Number(path.extname(a) === listExtension);
}

async function tryLoad(file: string): Promise<NetworkConfig | CniError> {
  try {
    return await loadNetworkFile(file);
  } catch (error) {
    return CniError.from(error);
  }
}

/** The name in a file that is otherwise unusable, if it can be made out. */
async function peekName(file: string): Promise<unknown> {
  try {
    return (parseJson(await readConfigFile(file), file, fileLimits) as { name?: unknown } | null)?.name;
  } catch {
    return undefined;
  }
}

/** A network that can be used, and the files before it that cannot. */
export interface UsableNetwork {
  readonly network: NetworkConfig;
  readonly skipped: readonly SkippedFile[];
}

/**
 * Chooses a directory's default network as container runtimes do: files in name order, the first usable one wins.
 * @param validate a further test, for instance that every plugin exists and speaks the version
 *   (`(network) => runtime.validate(network)`); whatever it throws is the reason to skip the file.
 * @throws NetworkNotFoundError `no-files`, or `none-usable` with the reason for every file.
 */
export async function findUsableNetwork(
  directory: string,
  validate: (network: NetworkConfig) => unknown = () => undefined,
): Promise<UsableNetwork> {
  const files = await listConfigFiles(directory);
  if (files.length === 0)
    throw new NetworkNotFoundError(`no network configurations in ${directory}`, 'no-files');
  const skipped: SkippedFile[] = [];
  for (const file of files) {
    const outcome = await tryUse(file, validate);
    if (!(outcome instanceof CniError)) return { network: outcome, skipped };
    skipped.push({ file, error: outcome });
  }
  throw new NetworkNotFoundError(`no usable network configuration in ${directory}`, 'none-usable', skipped);
}

async function tryUse(
  file: string,
  validate: (network: NetworkConfig) => unknown,
): Promise<NetworkConfig | CniError> {
  const network = await tryLoad(file);
  if (network instanceof CniError) return network;
  try {
    await validate(network);
    return network;
  } catch (error) {
    const { code, message, details } = CniError.from(error);
    return new CniError(code, `${file}: ${message}`, { details, cause: error });
  }
}
