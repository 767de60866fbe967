import { compact } from '@podwire/platform';
import type { Command } from 'commander';
import { addExamples, addOutput, optionsOf, outputOf } from '../command.js';
import { colorsFor, type Io, writeJson, writeLines } from '../io.js';
import type { PluginChoice } from './install.js';
import { addFolders, describeChanges, type FolderChoices, foldersOf } from './plugin-folders.js';

interface Choices extends FolderChoices {
  readonly cniSocket?: string;
  readonly name?: string;
  readonly plugin?: PluginChoice;
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
    .option('--force', 'replace files at these places that Podwire did not write')
    .action(() => run(command, io));
  addOutput(command);
  addExamples(command, [
    ['podwire install', 'into /opt/cni/bin and /etc/cni/net.d'],
    ['podwire install --cni-bin-dir /usr/lib/cni --cni-conf-dir /etc/cni/net.d', ''],
    ['podwire install -o json', '{"plugin":"c","changes":[{"path":…,"action":"created"}]}'],
  ]);
}

async function run(command: Command, io: Io): Promise<void> {
  const { installPlugin } = await import('./install.js');
  const choices = optionsOf(command) as unknown as Choices;
  const { cniSocket, name, plugin } = choices;
  if (plugin !== undefined && !['c', 'js', 'auto'].includes(plugin)) {
    command.error(`error: --plugin must be c, js or auto, not ${plugin}`, { exitCode: 2 });
  }
  const result = await installPlugin({
    ...foldersOf(choices),
    ...compact({ socket: cniSocket, name, plugin }),
  });
  if (outputOf(command) === 'json') return writeJson(io, result);
  const kind = result.plugin === 'c' ? 'the compiled plugin' : 'the JavaScript plugin';
  const paint = colorsFor(io, io.stdout);
  const isNew = result.changes.some(({ action }) => action !== 'unchanged');
  const end = isNew ? `installed ${kind}` : `nothing changed: ${kind} is installed`;
  return writeLines(io, [...describeChanges(result.changes, paint), end]);
}
