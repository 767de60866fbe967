/** The files that the services start with, where the administrator has not written any. */
import path from 'node:path';
import { renderConflist } from '../commands/install-conflist.js';
import { defaultDirectory, placesIn } from '../pods/locate.js';

export interface ConfigOptions {
  readonly agentConfig: string;
  readonly podletConfig: string;
  readonly directory: string;
  /** Where the CNI plugin of this program is. */
  readonly pluginDirectory: string;
}

export interface InitialFile {
  readonly file: string;
  readonly text: string;
}

const header = '# Written by `podwire service install`; yours from the first change on.';

export function renderAgentConfig({ directory }: ConfigOptions): string {
  const { agentSocket, agentApi } = placesIn(directory);
  const own = [`socket: ${agentSocket}`, `apiSocket: ${agentApi}`, `stateDir: ${directory}`];
  return [
    header,
    '# Every key: podwire help agent, docs/configuration.md. Check: podwire config validate FILE.',
    ...(directory === defaultDirectory ? ['# An empty file is a complete configuration.', '{}'] : own),
    '',
  ].join('\n');
}

const manifestsBeside = (podletConfig: string): string => path.join(path.dirname(podletConfig), 'pods');
const networkBeside = (podletConfig: string): string => path.join(path.dirname(podletConfig), 'cni/net.d');

export function renderPodletConfig({ podletConfig, pluginDirectory }: ConfigOptions): string {
  return [
    header,
    '# Keys are the options of `podwire podlet`, in camel case.',
    'runtime: embedded',
    `manifests: [${JSON.stringify(manifestsBeside(podletConfig))}]`,
    `cniConfDir: ${JSON.stringify(networkBeside(podletConfig))}`,
    `cniBinDir: [${JSON.stringify(pluginDirectory)}]`,
    '',
  ].join('\n');
}

/** The folder of manifests, and the CNI network that leads to the node agent. */
export function podletFolders({ podletConfig }: ConfigOptions): readonly string[] {
  return [manifestsBeside(podletConfig), networkBeside(podletConfig)];
}

export function networkFile({ podletConfig, directory }: ConfigOptions): InitialFile {
  const { agentSocket } = placesIn(directory);
  return {
    file: path.join(networkBeside(podletConfig), '10-podwire.conflist'),
    text: renderConflist({ name: 'podwire', socket: agentSocket }),
  };
}
