import fs from 'node:fs';
import path from 'node:path';
import { hasCode, SystemError } from './errno.js';
import { bindMount, fileSystemType, setNamespace, unmountLazily, unshare } from './libc.js';

const CLONE_NEWNET = 0x40000000;
const NSFS_MAGIC = 0x6e736673;
const PROC_NET_NAMESPACE = '/proc/thread-self/ns/net';

/** An open network namespace. Two handles are the same namespace when device and inode agree. */
export interface NamespaceHandle {
  readonly path: string;
  readonly fd: number;
  readonly device: number;
  readonly inode: number;
  close(): void;
}

/**
 * Opens a network namespace file and proves that it is one: the path must lie on nsfs (namespaces(7)).
 * @throws SystemError `ENOENT` when there is nothing, `EINVAL` when the file is no namespace.
 */
export function openNamespace(file: string): NamespaceHandle {
  const fd = openNamespaceFile(file);
  try {
    if (fileSystemType(fd) !== NSFS_MAGIC) throw new SystemError('open', 22, `${file} is not a namespace`);
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

let home: NamespaceHandle | undefined;

/**
 * Runs `work` inside the namespace and comes back. `work` must be synchronous: an `await` inside would let other
 * code run in the wrong namespace, so a returned promise is refused. If coming back fails the process aborts,
 * because nothing it does afterwards could be trusted.
 */
export function inNamespace<T>(namespace: Pick<NamespaceHandle, 'fd'>, work: () => T): T {
  home ??= openOwnNamespace();
  setNamespace(namespace.fd, CLONE_NEWNET);
  let result: T;
  try {
    result = work();
  } finally {
    leaveFor(home);
  }
  if (result instanceof Promise) throw new TypeError('inNamespace: the work must be synchronous');
  return result;
}

function leaveFor(target: NamespaceHandle): void {
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
  home ??= openOwnNamespace();
  await Promise.all(Array.from({ length: threads * 4 }, () => fs.promises.stat('/')));
}

/** Makes a new network namespace and pins it to `file`, as `ip netns add` does. `lo` is down in it. */
export function createNamespace(file: string): void {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.closeSync(fs.openSync(file, 'wx', 0o444));
  home ??= openOwnNamespace();
  try {
    unshare(CLONE_NEWNET);
    try {
      bindMount(PROC_NET_NAMESPACE, file);
    } finally {
      leaveFor(home);
    }
  } catch (error) {
    fs.rmSync(file, { force: true });
    throw error;
  }
}

/** Unpins a namespace made by {@link createNamespace}; one that is gone already is fine. */
export function deleteNamespace(file: string): void {
  try {
    unmountLazily(file);
  } catch (error) {
    if (!hasCode(error, 'ENOENT', 'EINVAL')) throw error;
  }
  fs.rmSync(file, { force: true });
}
