import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { splitLines } from '../src/index.js';

const collect = async (chunks: AsyncIterable<Uint8Array>, limit?: number): Promise<string[]> => {
  const lines: string[] = [];
  for await (const line of splitLines(chunks, limit)) lines.push(line);
  return lines;
};

test('lines come whole, however the bytes are cut, inside of a character too', async () => {
  const bytes = Buffer.from('eins\nzwei ü\n\ndrei');
  for (let size = 1; size <= bytes.length; size += 1) {
    const parts = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
      bytes.subarray(i * size, (i + 1) * size),
    );
    expect(await collect(Readable.from(parts))).toEqual(['eins', 'zwei ü', '', 'drei']);
  }
});

test('a line without end does not fill the memory', async () => {
  await expect(collect(Readable.from([Buffer.alloc(100, 97)]), 50)).rejects.toThrow('longer than 50');
});

test('a long line in small pieces costs no more than its length', async () => {
  const piece = Buffer.alloc(1024, 97);
  const [line, ...others] = await collect(Readable.from(Array.from({ length: 16_000 }, () => piece)));
  expect(line).toHaveLength(16_000 * 1024);
  expect(others).toEqual([]);
});

test("the stream's error is the reader's", async () => {
  const broken = new Readable({ read: () => broken.destroy(new Error('cut')) });
  await expect(collect(broken)).rejects.toThrow('cut');
});
