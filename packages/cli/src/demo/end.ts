/** Taking a demo away, by its ledger: by the demo itself, or by `podwire demo --end` long after. */
import fs from 'node:fs';
import path from 'node:path';
import { deleteNamespace } from '@podwire/linux';
import { endProcesses, isAlive } from '../process-mark.js';
import type { Ledger } from './ledger.js';
import { namespacePath } from './namespaces.js';

/** How many things there are of a demo. */
export interface Inventory {
  readonly namespaces: number;
  /** Those that the demo started, and whatever else lives in its namespaces. */
  readonly processes: number;
  readonly files: number;
}

/** Ends processes (SIGTERM, then SIGKILL), unpins namespaces and removes the directory. */
export async function endDemo(ledger: Ledger): Promise<void> {
  await endProcesses(ledger.processes);
  for (const name of ledger.namespaces) deleteNamespace(namespacePath(name));
  fs.rmSync(ledger.directory, { recursive: true, force: true, maxRetries: 5 });
}

/** Counts what is there of a demo. After {@link endDemo} it must be nothing. */
export function countLeft(ledger: Ledger, namespaceInodes: ReadonlySet<number>): Inventory {
  const started = new Set(ledger.processes.filter(isAlive).map(({ pid }) => pid));
  for (const pid of processesIn(namespaceInodes)) started.add(pid);
  return {
    namespaces: ledger.namespaces.filter((name) => fs.existsSync(namespacePath(name))).length,
    processes: started.size,
    files: countFiles(ledger.directory),
  };
}

export const isNothing = ({ namespaces, processes, files }: Inventory): boolean =>
  namespaces + processes + files === 0;

/** Inodes of namespaces that still have a name. */
export function inodesOf(ledger: Ledger): Set<number> {
  return new Set(
    ledger.namespaces.flatMap((name) => {
      const stat = fs.statSync(namespacePath(name), { throwIfNoEntry: false });
      return stat === undefined ? [] : [stat.ino];
    }),
  );
}

function processesIn(inodes: ReadonlySet<number>): number[] {
  return fs
    .readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry) && inodes.has(namespaceInodeOf(entry)))
    .map(Number);
}

function namespaceInodeOf(pid: string): number {
  try {
    return Number(/\d+/.exec(fs.readlinkSync(`/proc/${pid}/ns/net`))?.[0] ?? -1);
  } catch {
    return -1; // it ended meanwhile
  }
}

function countFiles(directory: string): number {
  if (!fs.existsSync(directory)) return 0;
  const entries = fs.readdirSync(directory, { withFileTypes: true });
  return entries.reduce(
    (sum, entry) => sum + (entry.isDirectory() ? countFiles(path.join(directory, entry.name)) : 1),
    0,
  );
}
