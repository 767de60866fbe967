import type { FileHandle } from 'node:fs/promises';

const blockLength = 65_536;
const lineBreak = 0x0a;

/** @returns the offset at which the last `lines` lines of a file of `size` bytes begin; a last one without line break counts */
export async function findTail(file: FileHandle, size: number, lines: number): Promise<number> {
  if (lines <= 0) return size;
  // The line break that ends the last line begins no further one.
  let wanted = lines;
  for (let end = size; end > 0;) {
    const start = Math.max(0, end - blockLength);
    const block = Buffer.alloc(end - start);
    const { bytesRead } = await file.read(block, 0, block.length, start);
    for (let at = bytesRead - 1; at >= 0; at -= 1) {
      if (block[at] !== lineBreak || start + at === size - 1) continue;
      wanted -= 1;
      if (wanted === 0) return start + at + 1;
    }
    end = start;
  }
  return 0;
}
