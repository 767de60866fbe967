/** Common parts of `install` and `uninstall`. */
import { compact } from '@podwire/platform';
import type { Command } from 'commander';
import { type Colors, printable } from '../io.js';
import type { FoldersOptions } from './install-programs.js';
import type { FileChange } from './install-files.js';

export interface FolderChoices {
  readonly cniBinDir: string;
  readonly cniConfDir: string;
  readonly force?: boolean;
}

export function addFolders(command: Command): Command {
  return command
    .option('--cni-bin-dir <directory>', 'where the runtime looks for plugins', '/opt/cni/bin')
    .option('--cni-conf-dir <directory>', 'where it looks for networks', '/etc/cni/net.d');
}

export function foldersOf({ cniBinDir, cniConfDir, force }: FolderChoices): FoldersOptions {
  return { cniBinDir, cniConfDir, ...compact({ force }) };
}

export function describeChanges(changes: readonly FileChange[], paint: Colors): string[] {
  return changes.map(({ path, action }) => {
    const verb = action.padEnd(9);
    const note =
      action === 'kept' ? ': Podwire did not write it, or it was changed since; --force removes it' : '';
    return `${action === 'kept' ? paint.yellow(verb) : verb}  ${printable(path)}${note}`;
  });
}
