import type { FileHandle } from 'node:fs/promises';
import { countRotatedLines, type RotatedLog } from './rotated.js';

const blockLength = 65_536;
const lineBreak = 0x0a;

/** The place where the last lines of a log begin: in its file, or in one that was rotated away. */
export interface LogTail {
  /** In the file. */
  readonly offset: number;
  readonly rotated: readonly RotatedLog[];
  /** Lines of the first of these that do not belong to it. */
  readonly skip: number;
}

/** @param rotated those before the file, oldest first */
export async function findTail(
  handle: FileHandle | undefined,
  rotated: readonly RotatedLog[],
  wanted: number | undefined,
): Promise<LogTail> {
  if (wanted === undefined) return { offset: 0, rotated, skip: 0 };
  const { offset, lines } = handle === undefined ? { offset: 0, lines: 0 } : await findLines(handle, wanted);
  let missing = wanted - lines;
  let first = rotated.length;
  while (missing > 0 && first > 0) {
    first -= 1;
    missing -= await countRotatedLines(rotated[first]!);
  }
  return { offset, rotated: rotated.slice(first), skip: Math.max(0, -missing) };
}

/** @returns where the last `wanted` lines of a file begin, and how many there are; a last one without line break counts */
async function findLines(file: FileHandle, wanted: number): Promise<{ offset: number; lines: number }> {
  const { size } = await file.stat();
  if (wanted <= 0 || size === 0) return { offset: size, lines: 0 };
  // The line break that ends the last line begins no further one.
  let lines = 0;
  for (let end = size; end > 0;) {
    const start = Math.max(0, end - blockLength);
    const block = Buffer.alloc(end - start);
    const { bytesRead } = await file.read(block, 0, block.length, start);
    for (let at = bytesRead - 1; at >= 0; at -= 1) {
      if (block[at] !== lineBreak || start + at === size - 1) continue;
      lines += 1;
      if (lines === wanted) return { offset: start + at + 1, lines };
    }
    end = start;
  }
  return { offset: 0, lines: lines + 1 };
}
