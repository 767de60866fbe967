/** Reading a log while it is rotated: every line once, wherever it is by then. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import zlib from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readContainerLog, type ReadLogOptions, rotatedName } from '@podwire/cri/logs';

let file: string;
let written = 0;
let rotations = 0;
beforeEach(() => {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'pwt-rotation-'));
  file = path.join(directory, '0.log');
  written = 0;
  rotations = 0;
});
afterEach(() => fs.rmSync(path.dirname(file), { recursive: true }));

/** Lines with numbers, from 0 on. */
function write(count: number): void {
  const lines = Array.from({ length: count }, () => {
    const nanoseconds = String(written).padStart(9, '0');
    return `2026-11-22T20:04:36.${nanoseconds}Z stdout F ${written++}\n`;
  });
  fs.appendFileSync(file, lines.join(''));
}

/** As the pod agent does it, with `kept` files at most beside the one that is written to. */
function rotate(kept = 100): void {
  const rotated = rotatedFiles();
  for (const name of rotated.filter((each) => !each.endsWith('.gz'))) {
    fs.writeFileSync(`${name}.gz`, zlib.gzipSync(fs.readFileSync(name)));
    fs.rmSync(name);
  }
  for (const name of rotatedFiles().slice(0, Math.max(0, rotated.length + 1 - kept))) fs.rmSync(name);
  fs.renameSync(file, rotatedName(file, Date.UTC(2026, 10, 22, 20, 0, (rotations += 1))));
}

function rotatedFiles(): string[] {
  const directory = path.dirname(file);
  const names = fs.readdirSync(directory).filter((name) => name.startsWith('0.log.'));
  return names.sort().map((name) => path.join(directory, name));
}

async function read(options?: ReadLogOptions): Promise<number[]> {
  const numbers: number[] = [];
  for await (const { content } of readContainerLog(file, options)) numbers.push(Number(content.toString()));
  return numbers;
}

const upTo = (end: number, start = 0): number[] =>
  Array.from({ length: end - start }, (_, index) => start + index);

test('names are the kubelet’s', () => {
  expect(rotatedName('/l/0.log', Date.UTC(2026, 10, 22, 20, 4, 36))).toBe('/l/0.log.20261122-200436');
});

test('all that is kept, then the file; other files beside it are none of it', async () => {
  for (const count of [3, 4, 5]) {
    write(count);
    rotate();
  }
  write(2);
  for (const name of ['0.log.bak', '0.log.20261122-200436.tmp', '1.log']) {
    fs.writeFileSync(path.join(path.dirname(file), name), '2026-11-22T20:04:36Z stdout F 99\n');
  }
  expect(rotatedFiles().filter((name) => name.endsWith('.gz'))).toHaveLength(2);
  expect(await read()).toEqual(upTo(14));
});

test('the last lines go back over as many files as they need', async () => {
  for (const count of [3, 4, 5]) {
    write(count);
    rotate();
  }
  write(2);
  for (const tailLines of upTo(16)) {
    expect(await read({ tailLines })).toEqual(upTo(14).slice(14 - Math.min(tailLines, 14)));
  }
});

test('a file that was moved away and has no follower yet', async () => {
  write(3);
  rotate();
  expect(await read()).toEqual(upTo(3));
  expect(await read({ tailLines: 2 })).toEqual([1, 2]);
});

describe('following', () => {
  /** Reads `count` lines, so that the reader stands where the test wants it. */
  async function take(lines: AsyncIterator<number>, count: number): Promise<number[]> {
    const taken: number[] = [];
    while (taken.length < count) taken.push((await lines.next()).value as number);
    return taken;
  }

  async function* follow(options: ReadLogOptions): AsyncGenerator<number> {
    for await (const { content } of readContainerLog(file, { follow: true, ...options }))
      yield Number(content.toString());
  }

  test.each([1, 2, 3, 5])(
    'loses and doubles nothing when it was rotated %i times since it was looked at',
    async (times) => {
      const stop = new AbortController();
      write(5);
      rotate();
      write(5);
      const lines = follow({ tailLines: 7, signal: stop.signal });
      expect(await take(lines, 4)).toEqual(upTo(7, 3));
      for (let time = 0; time < times; time += 1) {
        write(10);
        rotate();
      }
      write(3);
      expect(await take(lines, written - 7)).toEqual(upTo(written, 7));
      write(1);
      rotate();
      write(1);
      expect(await take(lines, 2)).toEqual([written - 2, written - 1]);
      stop.abort();
      expect((await lines.next()).done).toBe(true);
    },
  );

  test('goes on with what there still is when its own file has been removed', async () => {
    const stop = new AbortController();
    write(5);
    const lines = follow({ signal: stop.signal });
    expect(await take(lines, 1)).toEqual([0]);
    for (let time = 0; time < 4; time += 1) {
      write(10);
      rotate(2);
    }
    write(3);
    // It has its own file open; of the others the last two are left.
    const own = upTo(15, 1);
    const left = upTo(written, written - 23);
    expect(await take(lines, own.length + left.length)).toEqual([...own, ...left]);
    stop.abort();
  });

  test('ends with a container that is over, also when it was rotated last', async () => {
    const over = new AbortController();
    write(5);
    const lines = follow({ finished: over.signal });
    expect(await take(lines, 1)).toEqual([0]);
    rotate();
    write(2);
    over.abort();
    const rest: number[] = [];
    for await (const line of lines) rest.push(line);
    expect(rest).toEqual(upTo(7, 1));
  });
});
