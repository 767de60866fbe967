/**
 * Which files of a log come before which, while it is rotated. Names alone do not say it: between two looks the file that is open
 * may have been moved away, compressed and removed, and others may have come and gone in its place.
 */
import fs, { type FileHandle } from 'node:fs/promises';
import { compact } from '@podwire/platform';
import { listRotatedLogs, readHead, type RotatedLog } from './rotated.js';

export interface Generation {
  /** Absent while there is no file: between rename and creation, or since there is no log at all. */
  readonly handle?: FileHandle;
  /** Files that were rotated away, and that no generation before has had; oldest first. */
  readonly before: readonly RotatedLog[];
  /** The next one, when another file has the name, or this one was cut to less than `offset`. */
  openNext(offset: number): Promise<Generation | undefined>;
}

/** bytes at the beginning of a file that no other one of the log has: they begin with a time */
const headLength = 256;

export async function openGeneration(file: string): Promise<Generation> {
  return describe(file, await openIfThere(file), new Set());
}

/** @param known stamps of files that are left out */
async function describe(
  file: string,
  handle: FileHandle | undefined,
  known: ReadonlySet<string>,
): Promise<Generation> {
  // Listed after opening: what was rotated away in between is this one, and those after it are later ones.
  const listed = await listRotatedLogs(file);
  const own = handle === undefined ? -1 : await findOwn(handle, listed);
  const before = (own < 0 ? listed : listed.slice(0, own)).filter(({ stamp }) => !known.has(stamp));
  const seen = new Set([...known, ...before.map(({ stamp }) => stamp)]);
  return {
    ...compact({ handle }),
    before,
    openNext: (offset) => openNext(file, { handle, seen }, offset),
  };
}

interface Seen {
  readonly handle: FileHandle | undefined;
  readonly seen: ReadonlySet<string>;
}

async function openNext(
  file: string,
  { handle, seen }: Seen,
  offset: number,
): Promise<Generation | undefined> {
  const next = await openIfThere(file);
  if (next === undefined) return undefined;
  const isSame = handle !== undefined && (await isSameFile(handle, next));
  if (isSame && (await next.stat()).size >= offset) {
    await next.close();
    return undefined;
  }
  const found = await describe(file, next, seen);
  // The oldest one that is new is the file that was open until now, unless it has been removed already.
  const own = handle === undefined || isSame ? -1 : await findOwn(handle, found.before);
  return { ...found, before: found.before.slice(own + 1) };
}

async function openIfThere(file: string): Promise<FileHandle | undefined> {
  try {
    return await fs.open(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return undefined;
  }
}

async function isSameFile(one: FileHandle, other: FileHandle): Promise<boolean> {
  const [left, right] = await Promise.all([one.stat({ bigint: true }), other.stat({ bigint: true })]);
  return left.ino === right.ino && left.dev === right.dev;
}

/** The place of an open file among those that were rotated away, or -1. */
async function findOwn(handle: FileHandle, listed: readonly RotatedLog[]): Promise<number> {
  const { ino } = await handle.stat({ bigint: true });
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(headLength), 0, headLength, 0);
  const head = buffer.subarray(0, bytesRead);
  for (const [index, log] of listed.entries()) {
    const stats = await fs.stat(log.path, { bigint: true }).catch(() => undefined);
    if (!log.compressed && stats?.ino === ino) return index;
    // Compressed it is another file with the same beginning.
    if (head.length > 0 && log.compressed && head.equals(await readHead(log, head.length))) return index;
  }
  return -1;
}
