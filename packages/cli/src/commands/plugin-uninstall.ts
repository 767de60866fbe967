import type { Command } from 'commander';
import { addExamples, addOutput, optionsOf, outputOf } from '../command.js';
import { colorsFor, exitCodes, type Io, writeJson, writeLines } from '../io.js';
import { addFolders, describeChanges, type FolderChoices, foldersOf } from './plugin-folders.js';

/** `podwire uninstall` */
export function define(command: Command, io: Io): void {
  command.description(
    'Removes what "podwire install" made: the network configuration first, then the plugin, then folders that it had to make. Pods that run keep their network; detach them first, or leave the plugin until they are gone.',
  );
  addFolders(command)
    .option('--force', 'remove files at these places also when Podwire did not write them')
    .action(() => run(command, io));
  addOutput(command);
  addExamples(command, [
    ['podwire uninstall', ''],
    ['podwire uninstall --cni-bin-dir /usr/lib/cni -o json', '{"changes":[{"path":…,"action":"removed"}]}'],
  ]).addHelpText('after', '\nExit code 4: a file was kept, because Podwire did not write it.');
}

async function run(command: Command, io: Io): Promise<void> {
  const { uninstallPlugin } = await import('./install.js');
  const result = await uninstallPlugin(foldersOf(optionsOf(command) as unknown as FolderChoices));
  if (result.changes.some(({ action }) => action === 'kept')) io.exitCode = exitCodes.notAsItShould;
  if (outputOf(command) === 'json') return writeJson(io, result);
  return writeLines(io, describeChanges(result.changes, colorsFor(io, io.stdout)));
}
