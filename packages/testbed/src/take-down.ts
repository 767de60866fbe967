/** Taking a testbed away by what is written down of it and by what can be found, whoever made it and however far it came. */
import fs from 'node:fs';
import path from 'node:path';
import {
  endProcesses,
  hasCode,
  markProcess,
  mountsBelow,
  processesOfScene,
  unmountBelow,
} from '@podwire/linux';
import { parentDirectory, type Places, placesOf } from './places.js';
import { draftsOf, readRecord } from './record.js';

/** How many things there are of a testbed. */
export interface Inventory {
  readonly namespaces: number;
  readonly processes: number;
  readonly files: number;
}

export const isNothing = ({ namespaces, processes, files }: Inventory): boolean =>
  namespaces + processes + files === 0;

/**
 * Kills its processes, unpins its namespaces (the kernel takes links, addresses and routes away with them) and removes its directory.
 * Whatever of it is gone already is fine.
 * @returns what there was
 */
export async function takeDown(name: string): Promise<Inventory> {
  const places = placesOf(name);
  const before = countTestbed(name);
  const { processes = [] } = readRecord(places) ?? {};
  await endProcesses(processes, { now: true });
  await endOthers(places);
  unmountBelow(places.directory);
  for (const directory of [places.directory, ...draftsOf(name)])
    fs.rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  removeEmpty(parentDirectory);
  return before;
}

/** What was started after the last page was written, and what people have started inside. Again, until nobody forks any more. */
async function endOthers(places: Places): Promise<void> {
  for (;;) {
    const others = processesOf(places);
    if (others.length === 0) return;
    await endProcesses(
      others.map((pid) => markProcess('other', pid)),
      { now: true },
    );
  }
}

function processesOf({ directory }: Places): number[] {
  return processesOfScene(inodesBelow(directory), directory).map(({ pid }) => pid);
}

function inodesBelow(directory: string): Set<number> {
  const files = mountsBelow(directory)
    .filter(({ type }) => type === 'nsfs')
    .map((mount) => fs.statSync(mount.path, { throwIfNoEntry: false })?.ino);
  return new Set(files.filter((inode) => inode !== undefined));
}

function removeEmpty(directory: string): void {
  try {
    fs.rmdirSync(directory);
  } catch (error) {
    if (!hasCode(error, 'ENOTEMPTY', 'ENOENT')) throw error;
  }
}

/** Counts what is there. After {@link takeDown} it is nothing. */
export function countTestbed(name: string): Inventory {
  const places = placesOf(name);
  return {
    namespaces: inodesBelow(places.directory).size,
    processes: processesOf(places).length,
    files: countFiles(places.directory),
  };
}

function countFiles(directory: string): number {
  if (!fs.existsSync(directory)) return 0;
  return fs.readdirSync(directory, { withFileTypes: true }).reduce((sum, entry) => {
    return sum + (entry.isDirectory() ? countFiles(path.join(directory, entry.name)) : 1);
  }, 0);
}
