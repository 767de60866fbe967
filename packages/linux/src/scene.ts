/** A scene is what a program has put up on this machine around a directory of its own: processes, pinned namespaces, files. */
import fs from 'node:fs';
import path from 'node:path';
import { mountsBelow } from './mounts.js';
import { endProcesses, markProcess } from './process-mark.js';
import { processesOfScene } from './processes.js';

/** Inodes of the namespaces that are pinned below the directory. */
export function namespacesBelow(directory: string): Set<number> {
  const inodes = mountsBelow(directory)
    .filter(({ type }) => type === 'nsfs')
    .map((mount) => fs.statSync(mount.path, { throwIfNoEntry: false })?.ino);
  return new Set(inodes.filter((inode) => inode !== undefined));
}

/** Kills the processes of a scene (see {@link processesOfScene}): again, until nobody forks any more. */
export async function killScene(inodes: ReadonlySet<number>, directory: string): Promise<void> {
  for (;;) {
    const found = processesOfScene(inodes, directory);
    if (found.length === 0) return;
    await endProcesses(
      found.map(({ pid }) => markProcess('other', pid)),
      { now: true },
    );
  }
}

/** Without what is mounted there: that is somebody else's, or a pinned namespace. */
export function countFiles(directory: string): number {
  if (!fs.existsSync(directory)) return 0;
  return countIn(directory, new Set(mountsBelow(directory).map((mount) => mount.path)));
}

function countIn(directory: string, mounted: ReadonlySet<string>): number {
  return fs.readdirSync(directory, { withFileTypes: true }).reduce((sum, entry) => {
    const file = path.join(directory, entry.name);
    if (mounted.has(file)) return sum;
    return sum + (entry.isDirectory() ? countIn(file, mounted) : 1);
  }, 0);
}
