import fs from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { type FileChanges, watchFile } from './changes.js';
import { type LogEntry, type LogStream, parseLogLine, timestampNanoseconds } from './format.js';
import { findTail } from './tail.js';

export interface ReadLogOptions {
  /** Goes on with what is written later, also into the file that follows when the log is rotated. */
  readonly follow?: boolean;
  /** Ends the reading, without an error. */
  readonly signal?: AbortSignal;
  /** Ends following when all that is there is read: the container is over. */
  readonly finished?: AbortSignal;
  /** Begins with the last so many lines of the file; all when absent. */
  readonly tailLines?: number;
  /** Leaves out what is older. RFC 3339. */
  readonly since?: string;
  /** Leaves out the other stream. */
  readonly stream?: LogStream;
}

/**
 * Reads a container's log file, oldest entry first. Lines that are no log entries are left out; the runtime may be writing the last
 * one.
 * @throws errors of the file system, ENOENT when there is no such file and nothing is to be followed
 */
export async function* readContainerLog(
  file: string,
  options: ReadLogOptions = {},
): AsyncGenerator<LogEntry> {
  const since = options.since === undefined ? undefined : timestampNanoseconds(options.since);
  const wanted = (entry: LogEntry): boolean =>
    (options.stream === undefined || entry.stream === options.stream) &&
    (since === undefined || timestampNanoseconds(entry.timestamp) >= since);
  for await (const line of readLines(file, options)) {
    const entry = parseLogLine(line);
    if (entry !== undefined && wanted(entry)) yield entry;
  }
}

async function* readLines(file: string, options: ReadLogOptions): AsyncGenerator<Buffer> {
  const { follow = false, signal } = options;
  if (!follow) {
    yield* readOnce(file, options);
    return;
  }
  const stop = AbortSignal.any([signal, options.finished].filter((each) => each !== undefined));
  const changes = watchFile(file);
  let handle: FileHandle | undefined;
  try {
    handle = await openWhenThere(file, changes, stop);
    let lines = handle && createLineReader(handle, await startOf(handle, options.tailLines));
    while (handle !== undefined && lines !== undefined && signal?.aborted !== true) {
      // Looked at before reading: what is written after that is not ours to wait for.
      const last = stop.aborted;
      yield* lines.read(signal);
      const follower = await openFollower(file, handle, lines.offset());
      if (follower === undefined) {
        if (last) break;
        await changes.next(stop);
        continue;
      }
      // The old file may have grown until it was renamed.
      yield* lines.read(signal);
      await handle.close();
      handle = follower;
      lines = createLineReader(handle, 0);
    }
    if (lines !== undefined) yield* lines.rest(signal);
  } finally {
    changes.close();
    await handle?.close();
  }
}

async function* readOnce(file: string, { tailLines, signal }: ReadLogOptions): AsyncGenerator<Buffer> {
  const handle = await fs.open(file);
  try {
    const lines = createLineReader(handle, await startOf(handle, tailLines));
    yield* lines.read(signal);
    yield* lines.rest(signal);
  } finally {
    await handle.close();
  }
}

async function openWhenThere(
  file: string,
  changes: FileChanges,
  stop: AbortSignal,
): Promise<FileHandle | undefined> {
  for (;;) {
    try {
      return await fs.open(file);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
    if (stop.aborted) return undefined;
    await changes.next(stop);
  }
}

async function startOf(handle: FileHandle, tailLines: number | undefined): Promise<number> {
  if (tailLines === undefined) return 0;
  const { size } = await handle.stat();
  return findTail(handle, size, tailLines);
}

/** @returns another file that has taken the name, or the same one when it was cut to less than what was read of it */
async function openFollower(
  file: string,
  current: FileHandle,
  offset: number,
): Promise<FileHandle | undefined> {
  let next: FileHandle;
  try {
    next = await fs.open(file);
  } catch {
    return undefined; // between rename and creation
  }
  const [was, is] = await Promise.all([current.stat({ bigint: true }), next.stat({ bigint: true })]);
  if (was.ino !== is.ino || was.dev !== is.dev || is.size < BigInt(offset)) return next;
  await next.close();
  return undefined;
}

const blockLength = 65_536;
/** No runtime writes longer lines; a file that has them is no log. */
const maxLine = 4 * 1_048_576;
const lineBreak = 0x0a;

interface LineReader {
  /** The whole lines up to the end of the file as it is now. */
  read(signal: AbortSignal | undefined): AsyncGenerator<Buffer>;
  /** The last line, where it has no line break. */
  rest(signal: AbortSignal | undefined): Generator<Buffer>;
  offset(): number;
}

function createLineReader(handle: FileHandle, start: number): LineReader {
  let offset = start;
  let rest: Buffer = Buffer.alloc(0);
  return {
    *rest(signal) {
      if (rest.length > 0 && signal?.aborted !== true) yield rest;
    },
    offset: () => offset,
    async *read(signal) {
      while (signal?.aborted !== true) {
        const { buffer, bytesRead } = await handle.read(Buffer.alloc(blockLength), 0, blockLength, offset);
        if (bytesRead === 0) return;
        offset += bytesRead;
        let block = Buffer.concat([rest, buffer.subarray(0, bytesRead)]);
        for (let end = block.indexOf(lineBreak); end >= 0; end = block.indexOf(lineBreak)) {
          yield block.subarray(0, end);
          block = block.subarray(end + 1);
        }
        rest = block.length > maxLine ? Buffer.alloc(0) : block;
      }
    },
  };
}
