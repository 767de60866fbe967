/** Processes of a scene on this machine: those in its network namespaces, those that name its directory, and what these have started. */
import fs from 'node:fs';

export interface SceneProcess {
  readonly pid: number;
  readonly parent: number;
  /** Of its network namespace. */
  readonly inode: number;
}

/**
 * All but this process and those that it descends from: a shell inside may end the scene. A runtime's shims are
 * nobody's children once the agent that started them has ended, but have the directory in their command lines.
 */
export function processesOfScene(inodes: ReadonlySet<number>, directory: string): SceneProcess[] {
  const all = listProcesses();
  const own = ancestorsOf(process.pid, all);
  const machine = inodeOf('self');
  const isSeed = ({ pid, inode }: SceneProcess): boolean =>
    inodes.has(inode) || (inode !== machine && names(pid, `${directory}/`));
  const found = new Map(all.filter(isSeed).map((each) => [each.pid, each]));
  for (let before = -1; before !== found.size;) {
    before = found.size;
    for (const each of all) if (found.has(each.parent)) found.set(each.pid, each);
  }
  return [...found.values()].filter(({ pid }) => !own.has(pid));
}

function listProcesses(): SceneProcess[] {
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

function ancestorsOf(pid: number, all: readonly SceneProcess[]): Set<number> {
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
