/** The file of a log: appended to, reopened when it was moved away, and looked into for where it ends. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { listRotatedLogs } from '@podwire/cri/logs';
import { hasCode } from '@podwire/linux';
import { findPosition, type LogPosition } from './format.js';

export interface LogFile {
  /** Resolves when it is there and ready to be appended to. @throws what it could not be opened for */
  readonly opened: Promise<void>;
  append(lines: Buffer): Promise<void>;
  /** Lets go of the file that was moved away and begins a new one in its place. */
  reopen(): Promise<void>;
  close(): Promise<void>;
}

const mode = 0o640;

export async function isLink(file: string): Promise<boolean> {
  const stats = await fs.lstat(file).catch(() => undefined);
  return stats?.isSymbolicLink() ?? false;
}

/**
 * Opens (and makes) the file, ready to append: half a line that a crash left is cut off. It can be reopened from the beginning on, so
 * that a rotation while it is being opened is not missed.
 */
export function openLogFile(file: string): LogFile {
  let handle: fs.FileHandle | undefined;
  // Opening, writing and reopening take turns.
  let turn: Promise<unknown> = Promise.resolve();
  const serially = <T>(work: () => Promise<T>): Promise<T> => {
    const next = turn.then(work);
    turn = next.catch(() => undefined);
    return next;
  };
  const opened = serially(async () => {
    await fs.mkdir(path.dirname(file), { recursive: true, mode: 0o755 });
    await cutTornLine(file);
    handle = await fs.open(file, 'a', mode);
  });
  return {
    opened,
    append: (lines) => serially(async () => handle?.appendFile(lines)),
    reopen: () =>
      serially(async () => {
        const fresh = await fs.open(file, 'a', mode);
        await handle?.close();
        handle = fresh;
      }),
    close: () => serially(async () => handle?.close()),
  };
}

/** Docker cuts lines after 16 KiB; this has some of them even with the largest ones. */
const tailLength = 256 * 1024;

async function readTail(file: string): Promise<{ tail: Buffer; size: number } | undefined> {
  let handle;
  try {
    handle = await fs.open(file, 'r');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
  try {
    const { size } = await handle.stat();
    const length = Math.min(size, tailLength);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, size - length);
    return { tail: buffer.subarray(0, bytesRead), size };
  } finally {
    await handle.close();
  }
}

async function cutTornLine(file: string): Promise<void> {
  const found = await readTail(file);
  if (found === undefined || found.size === 0 || found.tail.at(-1) === 0x0a) return;
  await fs.truncate(file, found.size - (found.tail.length - (found.tail.lastIndexOf(0x0a) + 1)));
}

/** The end of the log; when it was just rotated and is still empty, the end of the one that was moved away. */
export async function readPosition(file: string): Promise<LogPosition | undefined> {
  const rotated = (await listRotatedLogs(file)).filter(({ compressed }) => !compressed).reverse();
  for (const candidate of [file, ...rotated.map(({ path: each }) => each)]) {
    const found = await readTail(candidate);
    const position = found === undefined ? undefined : findPosition(found.tail.toString('latin1'));
    if (position !== undefined) return position;
  }
  return undefined;
}
