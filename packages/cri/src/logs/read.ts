import fs from 'node:fs/promises';
import { type FileChanges, watchFile } from './changes.js';
import { type LogEntry, type LogStream, parseLogLine, timestampNanoseconds } from './format.js';
import { type Generation, openGeneration } from './generation.js';
import { createLineCutter } from './lines.js';
import { readRotatedLines } from './rotated.js';
import { findTail, type LogTail } from './tail.js';

export interface ReadLogOptions {
  /** Goes on with what is written later, also into the files that follow when the log is rotated. */
  readonly follow?: boolean;
  /** Ends the reading, without an error. */
  readonly signal?: AbortSignal;
  /** Ends following when all that is there is read: the container is over. */
  readonly finished?: AbortSignal;
  /** Begins with the last so many lines, also where they are in files that were rotated away; all when absent. */
  readonly tailLines?: number;
  /** Leaves out what is older. RFC 3339. */
  readonly since?: string;
  /** Leaves out the other stream. */
  readonly stream?: LogStream;
}

/**
 * Reads a container's log, oldest entry first: what is kept of it in files that were rotated away, then the file. Lines that are no log entries are left out; the runtime may be writing the last
 * one.
 * @throws errors of the file system, ENOENT when there is no file of it and nothing is to be followed
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
  if (options.follow === true) yield* followLines(file, options);
  else yield* readOnce(file, options);
}

async function* readOnce(file: string, { tailLines, signal }: ReadLogOptions): AsyncGenerator<Buffer> {
  const generation = await openGeneration(file);
  if (generation.handle === undefined && generation.before.length === 0) await fs.access(file);
  try {
    const tail = await findTail(generation.handle, generation.before, tailLines);
    yield* readRotated(tail, signal);
    if (generation.handle === undefined) return;
    const lines = createLineReader(generation.handle, tail.offset);
    yield* lines.read(signal);
    yield* lines.rest(signal);
  } finally {
    await generation.handle?.close();
  }
}

async function* followLines(file: string, options: ReadLogOptions): AsyncGenerator<Buffer> {
  const { signal } = options;
  const stop = AbortSignal.any([signal, options.finished].filter((each) => each !== undefined));
  const changes = watchFile(file);
  let current: Generation | undefined;
  try {
    current = await openWhenThere(file, changes, stop);
    let lines: LineReader | undefined;
    if (current !== undefined) {
      const tail = await findTail(current.handle, current.before, options.tailLines);
      yield* readRotated(tail, signal);
      lines = createLineReader(current.handle!, tail.offset);
    }
    while (current !== undefined && lines !== undefined && signal?.aborted !== true) {
      // Looked at before reading: what is written after that is not ours to wait for.
      const last = stop.aborted;
      yield* lines.read(signal);
      const next = await current.openNext(lines.offset());
      if (next === undefined) {
        if (last) break;
        await changes.next(stop);
        continue;
      }
      // The old file may have grown until it was renamed, and so may files between it and the new one.
      const before = current;
      current = next;
      yield* lines.read(signal);
      await before.handle?.close();
      yield* readRotated({ rotated: next.before, skip: 0 }, signal);
      lines = createLineReader(next.handle!, 0);
    }
    if (lines !== undefined) yield* lines.rest(signal);
  } finally {
    changes.close();
    await current?.handle?.close();
  }
}

async function* readRotated(
  { rotated, skip }: Pick<LogTail, 'rotated' | 'skip'>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Buffer> {
  for (const [index, log] of rotated.entries()) {
    for await (const line of readRotatedLines(log, index === 0 ? skip : 0)) {
      if (signal?.aborted === true) return;
      yield line;
    }
  }
}

async function openWhenThere(
  file: string,
  changes: FileChanges,
  stop: AbortSignal,
): Promise<Generation | undefined> {
  for (;;) {
    const generation = await openGeneration(file);
    if (generation.handle !== undefined) return generation;
    if (stop.aborted) return undefined;
    await changes.next(stop);
  }
}

const blockLength = 65_536;

interface LineReader {
  /** The whole lines up to the end of the file as it is now. */
  read(signal: AbortSignal | undefined): AsyncGenerator<Buffer>;
  /** The last line, where it has no line break. */
  rest(signal: AbortSignal | undefined): Generator<Buffer>;
  offset(): number;
}

function createLineReader(handle: fs.FileHandle, start: number): LineReader {
  let offset = start;
  const lines = createLineCutter();
  return {
    *rest(signal) {
      const rest = lines.rest();
      if (rest.length > 0 && signal?.aborted !== true) yield rest;
    },
    offset: () => offset,
    async *read(signal) {
      while (signal?.aborted !== true) {
        const { buffer, bytesRead } = await handle.read(Buffer.alloc(blockLength), 0, blockLength, offset);
        if (bytesRead === 0) return;
        offset += bytesRead;
        yield* lines.cut(buffer.subarray(0, bytesRead));
      }
    },
  };
}
