/** Taking a testbed away by what is written down of it and by what can be found, whoever made it and however far it came. */
import fs from 'node:fs';
import {
  countFiles,
  endProcesses,
  hasCode,
  killScene,
  namespacesBelow,
  processesOfScene,
  unmountBelow,
} from '@podwire/linux';
import { parentDirectory, placesOf } from './places.js';
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
  // What was started after the last page was written, and what people have started inside.
  await killScene(namespacesBelow(places.directory), places.directory);
  unmountBelow(places.directory);
  for (const directory of [places.directory, ...draftsOf(name)])
    fs.rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  removeEmpty(parentDirectory);
  return before;
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
  const { directory } = placesOf(name);
  const inodes = namespacesBelow(directory);
  return {
    namespaces: inodes.size,
    processes: processesOfScene(inodes, directory).length,
    files: countFiles(directory),
  };
}
