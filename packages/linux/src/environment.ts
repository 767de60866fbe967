/** A test or demo environment: the processes, pinned namespaces and files that a program has set up around a directory. */
import fs from 'node:fs';
import path from 'node:path';
import { mountsBelow } from './mounts.js';
import { endProcesses, markProcess } from './process-mark.js';

/** Inodes of the namespaces that are pinned below the directory. */
export function namespacesBelow(directory: string): Set<number> {
  const inodes = mountsBelow(directory)
    .filter(({ type }) => type === 'nsfs')
    .map((mount) => fs.statSync(mount.path, { throwIfNoEntry: false })?.ino);
  return new Set(inodes.filter((inode) => inode !== undefined));
}

/** Kills the processes of an environment (see {@link listEnvironmentProcesses}), repeatedly, since they may fork. */
export async function killEnvironment(inodes: ReadonlySet<number>, directory: string): Promise<void> {
  for (;;) {
    const found = listEnvironmentProcesses(inodes, directory);
    if (found.length === 0) return;
    await endProcesses(
      found.map(({ pid }) => markProcess('other', pid)),
      { now: true },
    );
  }
}

/** How many files there are, without mounts: those belong to other programs or are pinned namespaces. */
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

export interface EnvironmentProcess {
  readonly pid: number;
  readonly parent: number;
  /** The inode of its network namespace. */
  readonly inode: number;
}

/**
 * Processes in one of the network namespaces, those that have the directory in their command line, and their descendants. This
 * process and its ancestors are left out: a shell inside may end the environment. A runtime's shims are orphans once the agent
 * that started them has ended; only their command line shows the directory.
 */
export function listEnvironmentProcesses(
  inodes: ReadonlySet<number>,
  directory: string,
): EnvironmentProcess[] {
  const all = listProcesses();
  const own = ancestorsOf(process.pid, all);
  const machine = inodeOf('self');
  const isSeed = ({ pid, inode }: EnvironmentProcess): boolean =>
    inodes.has(inode) || (inode !== machine && names(pid, `${directory}/`));
  const found = new Map(all.filter(isSeed).map((each) => [each.pid, each]));
  for (let before = -1; before !== found.size;) {
    before = found.size;
    for (const each of all) if (found.has(each.parent)) found.set(each.pid, each);
  }
  return [...found.values()].filter(({ pid }) => !own.has(pid));
}

function listProcesses(): EnvironmentProcess[] {
  return fs
    .readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .flatMap((entry) => {
      try {
        const parent = Number(/^PPid:\s*(\d+)$/m.exec(fs.readFileSync(`/proc/${entry}/status`, 'utf8'))?.[1]);
        return [{ pid: Number(entry), parent, inode: inodeOf(entry) }];
      } catch {
        return []; // it ended meanwhile
      }
    });
}

function ancestorsOf(pid: number, all: readonly EnvironmentProcess[]): Set<number> {
  const parents = new Map(all.map((each) => [each.pid, each.parent]));
  const own = new Set<number>();
  for (let at: number | undefined = pid; at !== undefined && !own.has(at); at = parents.get(at)) own.add(at);
  return own;
}

const inodeOf = (pid: string): number => Number(/\d+/.exec(fs.readlinkSync(`/proc/${pid}/ns/net`))?.[0]);

function names(pid: number, text: string): boolean {
  try {
    return fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(text);
  } catch {
    return false;
  }
}
