import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readLogTail } from '../../src/logs/index.js';

function write(lines: readonly string[]): string {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'podlet-log-'));
  onTestFinished(() => fs.rmSync(directory, { recursive: true }));
  const file = path.join(directory, '0.log');
  fs.writeFileSync(file, lines.map((line) => `2026-01-01T00:00:00.000000000Z stderr F ${line}\n`).join(''));
  return file;
}

test('the last lines as they were written', async () => {
  expect(await readLogTail(write(['one', 'two']))).toBe('one\ntwo\n');
});

test('80 lines and 2048 bytes at most', async () => {
  const short = await readLogTail(write(Array.from({ length: 100 }, (_, i) => String(i))));
  expect(short.trim().split('\n')).toEqual(Array.from({ length: 80 }, (_, i) => String(i + 20)));
  expect(await readLogTail(write(Array.from({ length: 100 }, () => 'x'.repeat(99))))).toHaveLength(2048);
});

test('no log, no words', async () => {
  expect(await readLogTail('/nonexistent/0.log')).toBe('');
});
