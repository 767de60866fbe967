/** Taking a demo away, by its ledger: by the demo itself, or by `podwire demo --end` long after. */
import fs from 'node:fs';
import path from 'node:path';
import {
  deleteNamespace,
  endProcesses,
  isAlive,
  markProcess,
  mountsBelow,
  processesOfScene,
  unmountBelow,
} from '@podwire/linux';
import type { Ledger } from './ledger.js';
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
export async function endDemo(ledger: Ledger): Promise<void> {
  await endProcesses(ledger.processes);
  // What a killed demo had no time to write down, and what its agents and engines have started.
  const { inodes, pins } = belongingsOf(ledger);
  const others = processesOfScene(inodes, ledger.directory);
  await endProcesses(
    others.map(({ pid }) => markProcess('other', pid)),
    { now: true },
  );
  for (const file of [...ledger.namespaces.map(namespacePath), ...pins]) deleteNamespace(file);
  unmountBelow(ledger.directory);
  fs.rmSync(ledger.directory, { recursive: true, force: true, maxRetries: 5 });
}

/** Counts what is there of a demo. After {@link endDemo} it must be nothing. */
export function countLeft(ledger: Ledger, known: Belongings): Inventory {
  const running = processesOfScene(known.inodes, ledger.directory);
  const started = ledger.processes.filter(isAlive).map(({ pid }) => pid);
  const pinned = known.pins.map(inodeOf).filter((inode) => inode !== undefined);
  const inodes = [...belongingsOf(ledger).inodes, ...pinned, ...running.map(({ inode }) => inode)];
  const mounts = mountsBelow(ledger.directory).filter(({ type }) => type !== 'nsfs');
  return {
    namespaces: new Set(inodes).size,
    processes: new Set([...started, ...running.map(({ pid }) => pid)]).size,
    mounts: mounts.length,
    files: countFiles(ledger.directory),
  };
}

export const isNothing = ({ namespaces, processes, mounts, files }: Inventory): boolean =>
  namespaces + processes + mounts + files === 0;

export function belongingsOf({ directory, namespaces }: Ledger): Belongings {
  const below = mountsBelow(directory).filter(({ type }) => type === 'nsfs');
  const pins = pinsOf(directory);
  const files = [...namespaces.map(namespacePath), ...pins, ...below.map((mount) => mount.path)];
  return { inodes: new Set(files.map(inodeOf).filter((inode) => inode !== undefined)), pins };
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

function inodeOf(file: string): number | undefined {
  return fs.statSync(file, { throwIfNoEntry: false })?.ino;
}

function countFiles(directory: string): number {
  if (!fs.existsSync(directory)) return 0;
  // What is mounted there is somebody's files, counted by the mount.
  const mounted = new Set(mountsBelow(directory).map((mount) => mount.path));
  return countIn(directory, mounted);
}

function countIn(directory: string, mounted: ReadonlySet<string>): number {
  return fs.readdirSync(directory, { withFileTypes: true }).reduce((sum, entry) => {
    const file = path.join(directory, entry.name);
    if (mounted.has(file)) return sum;
    return sum + (entry.isDirectory() ? countIn(file, mounted) : 1);
  }, 0);
}
