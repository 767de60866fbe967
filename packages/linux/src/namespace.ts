import fs from 'node:fs';
import os from 'node:os';
import { SystemError } from './errno.js';
import { fileSystemType, namespaceKind, setNamespace, unshare } from './libc.js';
import { deletePin, makePin } from './namespace-pins.js';

const CLONE_NEWNET = 0x40000000;
const NSFS_MAGIC = 0x6e736673;
const PROC_NET_NAMESPACE = '/proc/thread-self/ns/net';

/**
 * Reference with which a network namespace can be entered: a descriptor of its file. A {@link NamespaceHandle} is one,
 * and so is `{ fd: fs.openSync('/run/netns/web', 'r') }`.
 */
export interface NamespaceReference {
  readonly fd: number;
}

/** An open network namespace. Two handles are the same namespace when device and inode agree. */
export interface NamespaceHandle extends NamespaceReference {
  readonly path: string;
  readonly device: number;
  readonly inode: number;
  close(): void;
}

/**
 * Opens a network namespace file and proves that it is one: the path must lie on nsfs (namespaces(7)), and be of that
 * kind.
 * @throws SystemError `EINVAL` when the file is no network namespace; the errors of `fs.openSync`.
 */
export function openNamespace(file: string): NamespaceHandle {
  const fd = openNamespaceFile(file);
  try {
    if (fileSystemType(fd) !== NSFS_MAGIC || namespaceKind(fd) !== CLONE_NEWNET) {
      throw new SystemError('open', os.constants.errno.EINVAL, `${file} is not a network namespace`);
    }
    const { dev, ino } = fs.fstatSync(fd);
    return { path: file, fd, device: dev, inode: ino, close: () => fs.closeSync(fd) };
  } catch (error) {
    fs.closeSync(fd);
    throw error;
  }
}

function openNamespaceFile(file: string): number {
  // O_NONBLOCK: a FIFO planted under the name must not hang the caller. Opening for reading only is enough.
  return fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
}

/** The namespace this process lives in. */
export function openOwnNamespace(): NamespaceHandle {
  return openNamespace(PROC_NET_NAMESPACE);
}

/** The namespace of the thread: its own, or that of the innermost {@link inNamespace}. */
let current: NamespaceReference | undefined;

/**
 * Runs `work` inside the namespace and comes back to where the caller was. `work` must be synchronous: an `await`
 * inside would let other code run in the wrong namespace, so a returned promise is refused. If coming back fails the
 * process aborts, because nothing it does afterwards could be trusted.
 */
export function inNamespace<T>(namespace: NamespaceReference, work: () => T): T {
  const outer = (current ??= openOwnNamespace());
  setNamespace(namespace.fd, CLONE_NEWNET);
  let result: T;
  try {
    current = namespace;
    result = work();
  } finally {
    leaveFor(outer);
    current = outer;
  }
  if (result instanceof Promise) throw new TypeError('inNamespace: the work must be synchronous');
  return result;
}

function leaveFor(target: NamespaceReference): void {
  try {
    setNamespace(target.fd, CLONE_NEWNET);
  } catch {
    process.abort();
  }
}

/**
 * Starts every thread of libuv's pool while the process is still in its own namespace. Pool threads start lazily
 * and inherit the namespace of the thread that first used the pool; one started inside {@link inNamespace} would
 * live in a pod for ever. Call once at start-up, before anything enters a namespace.
 */
export async function warmThreadPool(
  threads = Number(process.env['UV_THREADPOOL_SIZE'] ?? 4),
): Promise<void> {
  current ??= openOwnNamespace();
  await Promise.all(Array.from({ length: threads * 4 }, () => fs.promises.stat('/')));
}

/** Makes a new network namespace and pins it to `file`, as `ip netns add` does. `lo` is down in it. */
export function createNamespace(file: string): void {
  current ??= openOwnNamespace();
  const home = current;
  makePin(file, (mount) => {
    unshare(CLONE_NEWNET);
    try {
      mount(PROC_NET_NAMESPACE);
    } finally {
      leaveFor(home);
    }
  });
}

/**
 * Pins the network namespace of a process to `file`, so that it outlives the process and its number. The number may be
 * another process's before this is done: compare inodes with what is known of the process afterwards.
 * @throws SystemError; `EEXIST` when the file is there
 */
export function pinNamespace(pid: number, file: string): void {
  makePin(file, (mount) => mount(`/proc/${pid}/ns/net`));
}

/**
 * Unpins a namespace made by {@link createNamespace} or pinned by {@link pinNamespace}; a missing one is no error.
 * @throws SystemError `EINVAL` when the file is something else, which is left alone.
 */
export function deleteNamespace(file: string): void {
  deletePin(file);
}
