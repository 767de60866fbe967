import type { NodeChange } from '@podwire/agent/offline';
import type { Command } from 'commander';
import { addExamples, addOutput, optionsOf, outputOf } from '../command.js';
import { withInterrupt } from '../interrupt.js';
import { confirmHarm, listNames } from '../confirm.js';
import { colorsFor, exitCodes, type Io, printable, writeJson, writeLines } from '../io.js';
import { formatPlural } from '../render/counts.js';
import { describeNode } from '../render/node-changes.js';
import type { UninstallResult } from './install.js';
import { addFolders, describeChanges, type FolderChoices, foldersOf } from './plugin-folders.js';

interface Choices extends FolderChoices {
  readonly config?: string;
}

/** `podwire uninstall` */
export function define(command: Command, io: Io): void {
  command.description(
    'Removes what "podwire install" created, unless pods run (their runtime needs the plugin to take them down): the network configuration first, then the plugin, then the folders. Then restores what the agent changed on the node, if no agent runs and no pod is left; otherwise it says what to do, and running pods keep their network.',
  );
  addFolders(command)
    .option('--config <file>', "the agent's, which says where it keeps its state (default: all defaults)")
    .option('--force', 'also while pods run, and files at these places that Podwire did not write')
    .action(() => run(command, io));
  addOutput(command);
  addExamples(command, [
    ['podwire uninstall', ''],
    ['podwire uninstall --config /etc/podwire/agent.yaml', ''],
    [
      'podwire uninstall --cni-bin-dir /usr/lib/cni -o json',
      '{"changes":[{"path":…,"action":"removed"}],"node":[{"action":"restored","what":…}]}',
    ],
  ]).addHelpText(
    'after',
    '\nExit code 4: a file was kept, because Podwire did not write it. Exit code 1: something of the node could not be put back.',
  );
}

async function run(command: Command, io: Io): Promise<void> {
  const choices = optionsOf(command) as unknown as Choices;
  const [{ loadConfig }, { listAttachedPods, restoreNode }] = await Promise.all([
    import('@podwire/agent'),
    import('@podwire/agent/offline'),
  ]);
  const { uninstallPlugin } = await import('./install.js');
  const config = loadConfig(choices.config);
  if (choices.force !== true) await refuseWithPods(command, io, listAttachedPods(config));
  const { changes } = await uninstallPlugin(foldersOf(choices));
  const node = await withInterrupt((signal) => restoreNode(config, signal));
  io.exitCode = exitCodeFor(changes, node);
  if (outputOf(command) === 'json') return writeJson(io, { changes, node });
  const paint = colorsFor(io, io.stdout);
  return writeLines(io, [...describeChanges(changes, paint), ...describeNode(node, paint)]);
}

async function refuseWithPods(command: Command, io: Io, pods: readonly string[]): Promise<void> {
  if (pods.length === 0) return;
  const run = `${formatPlural(pods.length, 'pod')} ${pods.length === 1 ? 'runs' : 'run'} (${listNames(pods)})`;
  const message = printable(`${run}: without the plugin they cannot be taken down`);
  await confirmHarm(command, io, { message, action: '`--force` does it all the same.' });
}

function exitCodeFor(changes: UninstallResult['changes'], node: readonly NodeChange[]): number {
  if (node.some(({ action }) => action === 'failed')) return exitCodes.failed;
  return changes.some(({ action }) => action === 'kept') ? exitCodes.notAsItShould : exitCodes.ok;
}
