import { compact } from '@podwire/platform';
import type { Command } from 'commander';
import { addExamples, addOutput, optionsOf, outputOf } from '../command.js';
import { colorsFor, type Io, writeJson, writeLines } from '../io.js';
import type { ForeignPlugin } from './install-foreign.js';
import type { InstallResult, PluginChoice } from './install-programs.js';
import { addFolders, describeChanges, type FolderChoices, foldersOf } from './plugin-folders.js';

interface Choices extends FolderChoices {
  readonly cniSocket?: string;
  readonly name?: string;
  readonly plugin?: PluginChoice;
  readonly openshift?: boolean;
  readonly kubeOvn?: boolean;
}

/** `podwire install` */
export function define(command: Command, io: Io): void {
  command.description(
    'Installs the CNI plugin and then, atomically, the network configuration that tells a container runtime to use it. Idempotent. Start the agent separately: "podwire agent".',
  );
  addFolders(command)
    .option('--cni-socket <file>', "the agent's socket for plugins (default: /run/podwire/cni.sock)")
    .option('--name <name>', 'the name of the CNI network (default: podwire)')
    .option('--plugin <kind>', 'c, js or auto (the compiled plugin if it runs here, else the JavaScript one)')
    .option(
      '--openshift',
      'the plugin by the name of OpenShift SDN’s, openshift-sdn, and only that; the agent writes its network configuration',
    )
    .option('--kube-ovn', 'the same for the plugin by the name of Kube-OVN’s, kube-ovn')
    .option('--force', 'replace files at these places that Podwire did not write')
    .action(() => run(command, io));
  addOutput(command);
  addExamples(command, [
    ['podwire install', 'into /opt/cni/bin and /etc/cni/net.d'],
    ['podwire install --cni-bin-dir /usr/lib/cni --cni-conf-dir /etc/cni/net.d', ''],
    ['podwire install --openshift', 'for a node with `openshiftCni` in its configuration'],
    ['podwire install --kube-ovn', 'for a node with `kubeOvnCni` in its configuration'],
    ['podwire install -o json', '{"plugin":"c","changes":[{"path":…,"action":"created"}]}'],
  ]);
}

async function run(command: Command, io: Io): Promise<void> {
  const choices = optionsOf(command) as unknown as Choices;
  refuseMixed(command, choices);
  const result = await install(choices);
  if (outputOf(command) === 'json') return writeJson(io, result);
  const paint = colorsFor(io, io.stdout);
  const isNew = result.changes.some(({ action }) => action !== 'unchanged');
  const foreign = foreignOf(choices);
  const kind = `${kinds[result.plugin]}${foreign === undefined ? '' : ` ${foreign}`}`;
  const end = isNew ? `installed ${kind}` : `nothing changed: ${kind} is installed`;
  return writeLines(io, [...describeChanges(result.changes, paint), end]);
}

const kinds: Readonly<Record<InstallResult['plugin'], string>> = {
  c: 'the compiled plugin',
  js: 'the JavaScript plugin',
};

const foreignOf = ({ openshift, kubeOvn }: Choices): ForeignPlugin | undefined => {
  if (openshift === true) return 'openshift-sdn';
  return kubeOvn === true ? 'kube-ovn' : undefined;
};

function refuseMixed(command: Command, choices: Choices): void {
  const { plugin, openshift, kubeOvn, cniSocket, name } = choices;
  if (plugin !== undefined && !['c', 'js', 'auto'].includes(plugin))
    command.error(`error: --plugin must be c, js or auto, not ${plugin}`, { exitCode: 2 });
  if (openshift === true && kubeOvn === true)
    command.error('error: --openshift and --kube-ovn do not go together', { exitCode: 2 });
  if (foreignOf(choices) === undefined || (cniSocket ?? name) === undefined) return;
  const option = openshift === true ? '--openshift' : '--kube-ovn';
  command.error(`error: ${option} goes with neither --cni-socket nor --name`, { exitCode: 2 });
}

async function install(choices: Choices): Promise<InstallResult> {
  const { cniSocket, name, plugin } = choices;
  const options = { ...foldersOf(choices), ...compact({ plugin }) };
  const foreign = foreignOf(choices);
  if (foreign !== undefined) {
    const { installForeign } = await import('./install-foreign.js');
    return installForeign(foreign, options);
  }
  const { installPlugin } = await import('./install.js');
  return installPlugin({ ...options, ...compact({ socket: cniSocket, name }) });
}
