/** Taking a demo away, by its record: by the demo itself, or by `podwire demo --end` long after. */
import fs from 'node:fs';
import path from 'node:path';
import {
  countFiles,
  deleteNamespace,
  endProcesses,
  hasCode,
  isAlive,
  killEnvironment,
  mountsBelow,
  namespacesBelow,
  listEnvironmentProcesses,
  removeTreeSync,
  unmountBelow,
} from '@podwire/linux';
import type { DemoRecord } from './record.js';
import { namespacePath } from './namespaces.js';

/** How many things there are of a demo. */
export interface Inventory {
  readonly namespaces: number;
  /** Those that the demo started, and whatever else lives in its namespaces or descends from there. */
  readonly processes: number;
  readonly mounts: number;
  readonly files: number;
}

/** By what something is known to be of a demo, also when its directory is gone. */
export interface Belongings {
  /** Inodes of network namespaces: those with a name, and those that a runtime has pinned. */
  readonly inodes: Set<number>;
  /** Files that pin the namespaces of sandboxes. */
  readonly pins: readonly string[];
}

/** Ends processes (SIGTERM, then SIGKILL), unpins namespaces and removes the directory. */
export async function endDemo(record: DemoRecord): Promise<void> {
  await endProcesses(record.processes);
  // Processes and mounts that a killed demo could not write down, and those that its agents and engines have started.
  const { inodes, pins } = listBelongings(record);
  await killEnvironment(inodes, record.directory);
  for (const file of [...record.namespaces.map(namespacePath), ...pins]) deleteNamespace(file);
  unmountBelow(record.directory);
  removeTreeSync(record.directory);
}

/** Counts what is there of a demo. After {@link endDemo} it must be nothing. */
export function countLeft(record: DemoRecord, known: Belongings): Inventory {
  const running = listEnvironmentProcesses(known.inodes, record.directory);
  const started = record.processes.filter(isAlive).map(({ pid }) => pid);
  const inodes = [
    ...listBelongings(record).inodes,
    ...inodesOf(known.pins),
    ...running.map(({ inode }) => inode),
  ];
  const mounts = mountsBelow(record.directory).filter(({ type }) => type !== 'nsfs');
  return {
    namespaces: new Set(inodes).size,
    processes: new Set([...started, ...running.map(({ pid }) => pid)]).size,
    mounts: mounts.length,
    files: countFiles(record.directory),
  };
}

export const isNothing = ({ namespaces, processes, mounts, files }: Inventory): boolean =>
  namespaces + processes + mounts + files === 0;

export function listBelongings({ directory, namespaces }: DemoRecord): Belongings {
  const pins = pinsOf(directory);
  const files = [...namespaces.map(namespacePath), ...pins];
  return { inodes: new Set([...inodesOf(files), ...namespacesBelow(directory)]), pins };
}

/**
 * Keeps the demo's namespaces for as long as they are known by their inodes: the kernel gives the number of one that is gone to the
 * next that is made.
 * @returns lets go of them
 */
export function keepNamespacesOpen({ directory, namespaces }: DemoRecord): () => void {
  const mounts = mountsBelow(directory).filter(({ type }) => type === 'nsfs');
  const files = [
    ...namespaces.map(namespacePath),
    ...pinsOf(directory),
    ...mounts.map((mount) => mount.path),
  ];
  const held = files.flatMap(openIfThere);
  return () => held.forEach((fd) => fs.closeSync(fd));
}

function openIfThere(file: string): number[] {
  try {
    return [fs.openSync(file, 'r')];
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  }
}

/** Where the embedded runtime and the sandbox service keep a file or directory for each sandbox, named by its id. */
const sandboxDirectories = ['embedded/sandboxes', 'docker/sandbox'];

/** They pin namespaces where the whole machine has them (`/run/netns/podwire-ID`). */
function pinsOf(directory: string): string[] {
  return sandboxDirectories
    .map((name) => path.join(directory, name))
    .flatMap((each) => (fs.existsSync(each) ? fs.readdirSync(each) : []))
    .map((id) => namespacePath(`podwire-${id}`))
    .filter((file) => fs.existsSync(file));
}

/** Of those files that there are. */
const inodesOf = (files: readonly string[]): number[] =>
  files
    .map((file) => fs.statSync(file, { throwIfNoEntry: false })?.ino)
    .filter((inode) => inode !== undefined);
