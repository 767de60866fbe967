import path from 'node:path';
import { validateNetworkName } from '@podwire/cni';
import { describeError, PodwireError } from '@podwire/errors';
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
  removeLeftovers,
  removeMadeFolder,
} from './install-files.js';
import { removeForeign } from './install-foreign.js';
import {
  chooseProgram,
  explain,
  type FoldersOptions,
  installProgram,
  type InstallResult,
  isOwnPlugin,
  type ProgramOptions,
  refuseForeign,
  removeOwn,
} from './install-programs.js';

const CONFLIST = '10-podwire.conflist';

export interface InstallOptions extends ProgramOptions {
  /** The agent's CNI socket; `/run/podwire/cni.sock` unless given. */
  readonly socket?: string;
  /** The network's name; `podwire` unless given. */
  readonly name?: string;
}

export interface UninstallResult {
  /** `kept` is a file that Podwire did not write, or that was changed since. */
  readonly changes: readonly FileChange[];
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
    const plugin = await chooseProgram(PLUGIN_TYPE, options);
    const changes = [await ensureFolder(options.cniBinDir), await ensureFolder(options.cniConfDir)];
    for (const file of [...plugins, conflistFile]) await removeLeftovers(file);
    for (const file of plugins) changes.push(await installProgram(file, plugin.content, options.signal));
    changes.push(await installFile(conflistFile, Buffer.from(conflist), { mode: 0o644 }));
    return { plugin: plugin.kind, changes };
  });
}

/**
 * Removes what {@link installPlugin} and `installForeign` made, the network configuration first: folders too, where it made them and they
 * are empty. Nothing is left to do the second time.
 * @throws PodwireError INSTALL_FAILED
 */
export async function uninstallPlugin(options: FoldersOptions): Promise<UninstallResult> {
  const { plugins, conflist } = filesOf(options);
  return explain('uninstall', async () => {
    const changes = [await removeOwn(conflist, options.force === true ? () => true : isOwnText)];
    for (const file of plugins)
      changes.push(await removeOwn(file, options.force === true ? () => true : isOwnPlugin));
    changes.push(...(await removeForeign(options)));
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

const isOwnText = (content: Buffer): boolean => isOwnConflist(content.toString());
