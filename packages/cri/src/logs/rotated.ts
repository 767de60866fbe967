/** The files of a log that was rotated: `0.log.20261122-200436`, all but the newest of them with `.gz`, as the kubelet has them. */
import { once } from 'node:events';
import fs from 'node:fs';
import fsp from 'node:fs/promises';
import path from 'node:path';
import { createGunzip } from 'node:zlib';
import { createLineCutter } from './lines.js';

export interface RotatedLog {
  readonly path: string;
  /** When it was moved away, UTC: `20261122-200436`. Their order is that of the files. */
  readonly stamp: string;
  readonly compressed: boolean;
}

export const compressedSuffix = '.gz';

/** @param milliseconds since the epoch */
export function rotatedName(file: string, milliseconds: number): string {
  const [date = '', time = ''] = new Date(milliseconds).toISOString().split('T');
  return `${file}.${date.replaceAll('-', '')}-${time.slice(0, 8).replaceAll(':', '')}`;
}

/** Oldest first. One that is being compressed is listed once, as the whole file that it still is. */
export async function listRotatedLogs(file: string): Promise<RotatedLog[]> {
  const directory = path.dirname(file);
  const names = await fsp.readdir(directory).catch((): string[] => []);
  const all = new Map<string, RotatedLog>();
  for (const name of names.filter((each) => each.startsWith(`${path.basename(file)}.`)).sort()) {
    const rest = name.slice(path.basename(file).length + 1);
    const [, stamp, suffix] = /^(\d{8}-\d{6})(\.gz)?$/.exec(rest) ?? [];
    // The plain one comes first.
    if (stamp === undefined || all.has(stamp)) continue;
    all.set(stamp, { path: path.join(directory, name), stamp, compressed: suffix !== undefined });
  }
  return [...all.values()].sort((one, other) => (one.stamp < other.stamp ? -1 : 1));
}

/** Its lines, without line breaks, after the first `skip` ones. Nothing when it has been removed meanwhile. */
export async function* readRotatedLines(log: RotatedLog, skip = 0): AsyncGenerator<Buffer> {
  const lines = createLineCutter();
  let index = 0;
  for await (const chunk of readBytes(log)) {
    for (const line of lines.cut(chunk)) {
      if (index >= skip) yield line;
      index += 1;
    }
  }
}

export async function countRotatedLines(log: RotatedLog): Promise<number> {
  let count = 0;
  for await (const chunk of readBytes(log)) {
    for (let at = chunk.indexOf(0x0a); at >= 0; at = chunk.indexOf(0x0a, at + 1)) count += 1;
  }
  return count;
}

/** Its first bytes, `length` at most. */
export async function readHead(log: RotatedLog, length: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let have = 0;
  for await (const chunk of readBytes(log)) {
    parts.push(chunk);
    have += chunk.length;
    if (have >= length) break;
  }
  return Buffer.concat(parts).subarray(0, length);
}

/** It may be compressed between listing and opening; its name has `.gz` then. */
async function* readBytes(log: RotatedLog): AsyncGenerator<Buffer> {
  const file = await openStream(log);
  if (file === undefined) return;
  const { stream, compressed } = file;
  const source = compressed ? stream.pipe(createGunzip()) : stream;
  // `pipe` does not hand errors on.
  stream.once('error', (error) => source.destroy(error));
  try {
    yield* source as AsyncIterable<Buffer>;
  } finally {
    stream.destroy();
    source.destroy();
  }
}

async function openStream(
  log: RotatedLog,
): Promise<{ stream: fs.ReadStream; compressed: boolean } | undefined> {
  const plain = { path: log.path, compressed: log.compressed };
  const packed = { path: `${log.path}${compressedSuffix}`, compressed: true };
  for (const { path: file, compressed } of log.compressed ? [plain] : [plain, packed]) {
    const stream = fs.createReadStream(file);
    try {
      await once(stream, 'open');
      return { stream, compressed };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
  return undefined;
}
