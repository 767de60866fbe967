import fs from 'node:fs';
import {
  createNamespace,
  deleteNamespace,
  inNamespace,
  openNamespace,
  type NamespaceHandle,
} from '@podwire/linux';
import { run, start, type ProcessOptions, type RunningProcess, type RunOptions } from './processes.js';

/** A network namespace that a test made, pinned where `ip netns` finds it. */
export interface TestNamespace {
  readonly name: string;
  readonly path: string;
  /** Of the namespace file: what `/proc/PID/ns/net` shows. */
  readonly inode: number;
  /** Runs synchronous work inside. */
  inside<T>(work: () => T): T;
  /** Runs a program inside to its end and returns its standard output. @throws CommandError */
  run(argv: readonly string[], options?: RunOptions): Promise<string>;
  start(argv: readonly string[], options?: ProcessOptions): RunningProcess;
  /** Runs `ip -batch`: one command of iproute2 for each line. */
  ip(...commands: readonly string[]): Promise<void>;
  /** Unpins it if it was made here. It lives on while a process or socket is inside. */
  delete(): void;
}

const NAMESPACE_DIRECTORY = '/run/netns';
const pinned = new Set<string>();

process.on('exit', () => {
  for (const file of pinned) deleteNamespace(file);
});

/** Makes a network namespace `name`; `lo` is down in it, as a container runtime leaves it. */
export function createTestNamespace(name: string): TestNamespace {
  const path = `${NAMESPACE_DIRECTORY}/${name}`;
  createNamespace(path);
  pinned.add(path);
  return namespaceAt(name, path, openNamespace(path));
}

/** A namespace that another program creates and deletes, such as a container's sandbox. */
export function openTestNamespace(path: string): TestNamespace {
  return namespaceAt(path, path, openNamespace(path));
}

function namespaceAt(name: string, path: string, handle: NamespaceHandle): TestNamespace {
  let open = true;
  const inside = <T>(work: () => T): T => inNamespace(handle, work);
  const around: NonNullable<ProcessOptions['around']> = (begin) => inside(begin);
  const self: TestNamespace = {
    name,
    path,
    inode: handle.inode,
    inside,
    run: (argv, options) => run(argv, { ...options, around }),
    start: (argv, options) => start(argv, { ...options, around }),
    ip: async (...commands) => {
      await self.run(['ip', '-batch', '-'], { input: `${commands.join('\n')}\n` });
    },
    delete: () => {
      if (!open) return;
      open = false;
      handle.close();
      if (pinned.delete(path)) deleteNamespace(path);
    },
  };
  return self;
}

/** Ids of the processes that live in one of these namespaces (inodes of namespace files), the own one left out. */
export function processesIn(inodes: ReadonlySet<number>): number[] {
  return fs
    .readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry) && inodes.has(namespaceInodeOf(entry)))
    .map(Number)
    .filter((pid) => pid !== process.pid);
}

function namespaceInodeOf(pid: string): number {
  try {
    return Number(/\d+/.exec(fs.readlinkSync(`/proc/${pid}/ns/net`))?.[0] ?? -1);
  } catch {
    return -1; // it ended meanwhile
  }
}
