/** The plugin by the name of OpenShift SDN's. Its network configuration is the agent's to write, which does it when it is ready. */
import path from 'node:path';
import { networkConfigName, renderNetworkConfig } from '@podwire/openshift-cni';
import { ensureFolder, type FileChange, readIfExists, removeLeftovers } from './install-files.js';
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

const NAME = 'openshift-sdn';

/**
 * Installs the plugin, and makes the folder of network configurations, which a service may write into but not make.
 * @throws PodwireError INSTALL_REFUSED (a plugin of others is in the way: that of OpenShift itself), INSTALL_FAILED
 */
export async function installOpenshift(options: ProgramOptions): Promise<InstallResult> {
  const { cniBinDir, cniConfDir, force, signal } = options;
  const file = path.resolve(cniBinDir, NAME);
  return explain('install', async () => {
    if (force !== true) await refuseForeign(file, isOwnPlugin);
    const { kind, content } = await chooseProgram(NAME, options);
    const changes = [await ensureFolder(cniBinDir), await ensureFolder(cniConfDir)];
    await removeLeftovers(file);
    return { plugin: kind, changes: [...changes, await installProgram(file, content, signal)] };
  });
}

/** Removes the plugin, if it is ours, and before it the network configuration that names it. */
export async function removeOpenshift({ cniBinDir, cniConfDir }: FoldersOptions): Promise<FileChange[]> {
  const file = path.resolve(cniBinDir, NAME);
  const content = await readIfExists(file);
  if (content === undefined || !isOwnPlugin(content)) return [];
  const config = await removeOwn(path.resolve(cniConfDir, networkConfigName), isOwnConfig);
  return [config, await removeOwn(file, isOwnPlugin)];
}

const isOwnConfig = (content: Buffer): boolean =>
  (['0.2.0', '0.3.1'] as const).some((version) => renderNetworkConfig(version) === content.toString());
