/** Plugins by the names of others'. Their network configuration is the agent's to write, which does it when it is ready. */
import path from 'node:path';
import { conflistName, renderConflist } from '@podwire/kube-ovn-cni';
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

export type ForeignPlugin = 'openshift-sdn' | 'kube-ovn';

interface Foreign {
  readonly networkConfig: string;
  readonly isOwnConfig: (text: string) => boolean;
}

const foreign: Readonly<Record<ForeignPlugin, Foreign>> = {
  'openshift-sdn': {
    networkConfig: networkConfigName,
    isOwnConfig: (text) =>
      (['0.2.0', '0.3.1'] as const).some((version) => renderNetworkConfig(version) === text),
  },
  'kube-ovn': {
    networkConfig: conflistName,
    isOwnConfig: (text) => text === renderConflist(socketIn(text)),
  },
};

/** In which socket they differ is up to the configuration of the agent. */
const socketIn = (text: string): string => /"server_socket":"([^"]*)"/.exec(text)?.[1] ?? '';

/**
 * Installs the plugin, and makes the folder of network configurations, which a service may write into but not make.
 * @throws PodwireError INSTALL_REFUSED (a plugin of others is in the way: the original itself), INSTALL_FAILED
 */
export async function installForeign(name: ForeignPlugin, options: ProgramOptions): Promise<InstallResult> {
  const { cniBinDir, cniConfDir, force, signal } = options;
  const file = path.resolve(cniBinDir, name);
  return explain('install', async () => {
    if (force !== true) await refuseForeign(file, isOwnPlugin);
    const { kind, content } = await chooseProgram(name, options);
    const changes = [await ensureFolder(cniBinDir), await ensureFolder(cniConfDir)];
    await removeLeftovers(file);
    return { plugin: kind, changes: [...changes, await installProgram(file, content, signal)] };
  });
}

/** Removes the plugins that are ours, and before each the network configuration that names it. */
export async function removeForeign(folders: FoldersOptions): Promise<FileChange[]> {
  const changes: FileChange[] = [];
  for (const name of Object.keys(foreign) as ForeignPlugin[]) changes.push(...(await remove(name, folders)));
  return changes;
}

async function remove(name: ForeignPlugin, { cniBinDir, cniConfDir }: FoldersOptions): Promise<FileChange[]> {
  const file = path.resolve(cniBinDir, name);
  const content = await readIfExists(file);
  if (content === undefined || !isOwnPlugin(content)) return [];
  const { networkConfig, isOwnConfig } = foreign[name];
  const isOwn = (text: Buffer): boolean => isOwnConfig(text.toString());
  return [
    await removeOwn(path.resolve(cniConfDir, networkConfig), isOwn),
    await removeOwn(file, isOwnPlugin),
  ];
}
