/**
 * Trees that a container has made, as deep and as wide as it liked: removed and measured through open directories, never by a
 * path of many parts, which has a limit (PATH_MAX) and may lead elsewhere by the time it is used. Symbolic links are not
 * followed and mounts not entered. Every call goes to libuv's pool, a few at a time.
 */
import { randomUUID } from 'node:crypto';
import { constants, readFileSync } from 'node:fs';
import fs, { type FileHandle } from 'node:fs/promises';
import os from 'node:os';
import { hasCode } from '@podwire/platform';
import { SystemError } from './errno.js';

const openDirectoryOnly = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** Entries of a directory that are removed at once. */
const WIDTH = 8;

interface OpenDirectory {
  readonly handle: FileHandle;
  /** Tells bind mounts apart, too. */
  readonly mount: string;
}

export interface TreeOptions {
  readonly signal?: AbortSignal;
}

/**
 * Removes a file or a directory with all that is in it; one that is not there is fine. What was removed stays so when it fails or
 * is aborted, so that it can be called again.
 * @throws SystemError `EXDEV` for a mount in it; errors of the file system; the signal's reason
 */
export async function removeTree(file: string, { signal }: TreeOptions = {}): Promise<void> {
  const top = await openTop(file);
  if (top === undefined) return fs.rm(file, { force: true });
  try {
    await empty(top, signal);
  } finally {
    await top.handle.close();
  }
  await ignoring('ENOENT', fs.rmdir(file));
}

/** Undefined when it is no directory. */
async function openTop(file: string): Promise<OpenDirectory | undefined> {
  try {
    return await openDirectory(file);
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP')) return undefined;
    throw error;
  }
}

/**
 * Directories in the tree are taken apart one at a time: their files are unlinked, and the directories in them move up to the
 * top, where their turn comes. So two open directories are enough for any depth. A round that removes nothing is the last.
 */
async function empty(top: OpenDirectory, signal: AbortSignal | undefined): Promise<void> {
  for (;;) {
    const round = { removed: 0, problem: undefined as unknown };
    await eachEntry(top, signal, async (entry) => {
      try {
        await removeEntry(top, entry, signal);
        round.removed++;
      } catch (error) {
        round.problem ??= error;
      }
    });
    if (round.removed > 0) continue;
    if (round.problem !== undefined) throw round.problem as Error;
    return;
  }
}

async function removeEntry(top: OpenDirectory, entry: Entry, signal: AbortSignal | undefined): Promise<void> {
  if (!(await unlinkFile(entry))) await dissolve(top, entry.path, signal);
}

/** False for a directory. */
async function unlinkFile({ path, isDirectory }: Entry): Promise<boolean> {
  if (isDirectory) return false;
  try {
    await ignoring('ENOENT', fs.unlink(path));
    return true;
  } catch (error) {
    if (hasCode(error, 'EISDIR')) return false;
    throw error;
  }
}

async function dissolve(top: OpenDirectory, path: Buffer, signal: AbortSignal | undefined): Promise<void> {
  const directory = await openBelow(top, path);
  if (directory === undefined) return;
  try {
    await eachEntry(directory, signal, async (entry) => {
      if (!(await unlinkFile(entry))) await ignoring('ENOENT', fs.rename(entry.path, newPlaceIn(top)));
    });
  } finally {
    await directory.handle.close();
  }
  await ignoring('ENOENT', fs.rmdir(path));
}

/** A name that nothing in there has. */
const newPlaceIn = (top: OpenDirectory): Buffer => Buffer.from(`${through(top)}/${randomUUID()}`);

export interface TreeUse {
  /** On disk. */
  readonly bytes: number;
  readonly inodes: number;
  /** False when a limit was met: what was counted until then is a part. */
  readonly isWhole: boolean;
}

export interface MeasureLimits extends TreeOptions {
  readonly entries: number;
  /** Every level is an open directory. */
  readonly depth: number;
}

/** Counts what is below a directory; of one that is not there it is nothing. @throws errors of the file system; the signal's reason */
export async function measureTree(directory: string, limits: MeasureLimits): Promise<TreeUse> {
  const use = { bytes: 0, inodes: 0, isWhole: true };
  const top = await openTop(directory);
  if (top === undefined) return use;
  try {
    await measure(top, use, limits, 1, new Set());
    return use;
  } finally {
    await top.handle.close();
  }
}

async function measure(
  directory: OpenDirectory,
  use: { -readonly [Key in keyof TreeUse]: TreeUse[Key] },
  limits: MeasureLimits,
  depth: number,
  linked: Set<number>,
): Promise<void> {
  const below: Buffer[] = [];
  await eachEntry(directory, limits.signal, async ({ path, isDirectory }) => {
    if (use.inodes >= limits.entries) return void (use.isWhole = false);
    const info = await ignoring('ENOENT', fs.lstat(path));
    if (info === undefined) return;
    if (isDirectory) below.push(path);
    else if (info.nlink > 1 && !isFirst(linked, info.ino)) return;
    use.inodes++;
    use.bytes += info.blocks * 512;
  });
  for (const path of below) {
    if (depth >= limits.depth || use.inodes >= limits.entries) return void (use.isWhole = false);
    const next = await openBelow(directory, path).catch(skipMount);
    if (next === undefined) continue;
    try {
      await measure(next, use, limits, depth + 1, linked);
    } finally {
      await next.handle.close();
    }
  }
}

function isFirst(seen: Set<number>, inode: number): boolean {
  if (seen.has(inode)) return false;
  seen.add(inode);
  return true;
}

function skipMount(error: unknown): undefined {
  if (!hasCode(error, 'EXDEV')) throw error;
}

/** Names may not be UTF-8: they are bytes, carried as latin1, in which every byte is a character. */
interface Entry {
  readonly path: Buffer;
  readonly isDirectory: boolean;
}

/**
 * Calls `work` for each entry, a few at once; a failure is thrown when all are done. Entries that come meanwhile may be
 * among them or not.
 */
async function eachEntry(
  directory: OpenDirectory,
  signal: AbortSignal | undefined,
  work: (entry: Entry) => Promise<void>,
): Promise<void> {
  const prefix = `${through(directory)}/`;
  const batch: Entry[] = [];
  const failures: unknown[] = [];
  const workOnBatch = async (): Promise<void> => {
    const outcomes = await Promise.allSettled(batch.splice(0).map(work));
    const failed = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failed !== undefined && failures.length === 0) failures.push(failed.reason);
  };
  for await (const entry of await fs.opendir(prefix, { encoding: 'latin1', bufferSize: 256 })) {
    signal?.throwIfAborted();
    batch.push({ path: Buffer.from(prefix + entry.name, 'latin1'), isDirectory: entry.isDirectory() });
    if (batch.length === WIDTH) await workOnBatch();
  }
  await workOnBatch();
  if (failures.length > 0) throw failures[0] as Error;
}

/** Undefined if it was removed or replaced. @throws SystemError EXDEV */
async function openBelow(parent: OpenDirectory, path: Buffer): Promise<OpenDirectory | undefined> {
  const found = await ignoring('ENOENT', ignoring('ENOTDIR', ignoring('ELOOP', openDirectory(path))));
  if (found === undefined || found.mount === parent.mount) return found;
  await found.handle.close();
  throw new SystemError('open', os.constants.errno.EXDEV, `something is mounted on ${nameOf(path)}`);
}

const nameOf = (path: Buffer): string => path.subarray(path.lastIndexOf('/') + 1).toString();

async function openDirectory(path: string | Buffer): Promise<OpenDirectory> {
  const handle = await fs.open(path, openDirectoryOnly);
  try {
    // proc(5), fdinfo; from memory, so it is read at once. The device is not enough: a bind mount has that of its source.
    const info = readFileSync(`/proc/self/fdinfo/${handle.fd}`, 'latin1');
    return { handle, mount: /^mnt_id:\s*(\d+)$/m.exec(info)?.[1] ?? '' };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

const through = ({ handle }: OpenDirectory): string => `/proc/self/fd/${handle.fd}`;

async function ignoring<T>(code: string, work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (hasCode(error, code)) return undefined;
    throw error;
  }
}
