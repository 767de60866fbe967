/** Removes a testbed by its record and by what is found on the machine, also after an incomplete creation. */
import fs from 'node:fs';
import {
  countFiles,
  endProcesses,
  hasCode,
  killEnvironment,
  namespacesBelow,
  listEnvironmentProcesses,
  removeTreeSync,
  unmountBelow,
} from '@podwire/linux';
import { parentDirectory, pathsOf } from './paths.js';
import { draftsOf, readRecord } from './record.js';

/** Number of things that belong to a testbed. */
export interface Inventory {
  readonly namespaces: number;
  readonly processes: number;
  readonly files: number;
}

export const isNothing = ({ namespaces, processes, files }: Inventory): boolean =>
  namespaces + processes + files === 0;

/**
 * Kills its processes, unpins its namespaces (the kernel removes links, addresses and routes with them) and removes its
 * directory. Idempotent.
 * @returns the inventory before
 */
export async function tearDownTestbed(name: string): Promise<Inventory> {
  const paths = pathsOf(name);
  const before = countTestbed(name);
  const { processes = [] } = readRecord(paths) ?? {};
  await endProcesses(processes, { now: true });
  // Processes that are not in the record: started after its last update, or by a user inside a namespace.
  await killEnvironment(namespacesBelow(paths.directory), paths.directory);
  unmountBelow(paths.directory);
  for (const directory of [paths.directory, ...draftsOf(name)]) removeTreeSync(directory);
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

/** Counts what exists; all 0 after {@link tearDownTestbed}. */
export function countTestbed(name: string): Inventory {
  const { directory } = pathsOf(name);
  const inodes = namespacesBelow(directory);
  return {
    namespaces: inodes.size,
    processes: listEnvironmentProcesses(inodes, directory).length,
    files: countFiles(directory),
  };
}
