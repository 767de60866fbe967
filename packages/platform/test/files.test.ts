import fs from 'node:fs';
import fsp from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { hasCode, readIfExists, readIfExistsSync, replaceFile, replaceFileSync } from '../src/index.js';

let directory: string;
beforeEach(() => {
  directory = fs.mkdtempSync(path.join(os.tmpdir(), 'files-'));
});
afterEach(() => fs.rmSync(directory, { recursive: true }));

test('a file is replaced with its mode, and no other file is left', async () => {
  const file = path.join(directory, 'a');
  replaceFileSync(file, 'one', { mode: 0o600 });
  expect([fs.readFileSync(file, 'utf8'), fs.statSync(file).mode & 0o777]).toEqual(['one', 0o600]);
  await replaceFile(file, 'two', { mode: 0o640, durable: true });
  expect([fs.readFileSync(file, 'utf8'), fs.statSync(file).mode & 0o777]).toEqual(['two', 0o640]);
  expect(fs.readdirSync(directory)).toEqual(['a']);
});

test('a file has its mode also where a killed process left a temporary one with another mode', () => {
  const file = path.join(directory, 'a');
  fs.writeFileSync(path.join(directory, '.a.new'), 'left behind', { mode: 0o644 });
  replaceFileSync(file, 'one', { mode: 0o600, flush: true });
  expect([fs.readFileSync(file, 'utf8'), fs.statSync(file).mode & 0o777]).toEqual(['one', 0o600]);
  expect(fs.readdirSync(directory)).toEqual(['a']);
});

test('a file has its mode whatever the umask of the service is', async () => {
  const file = path.join(directory, 'a');
  const modeOf = (): number => fs.statSync(file).mode & 0o777;
  const before = process.umask(0o077);
  try {
    replaceFileSync(file, 'one', { mode: 0o444 });
    expect(modeOf()).toBe(0o444);
    await replaceFile(file, 'two', { mode: 0o644 });
    expect(modeOf()).toBe(0o644);
  } finally {
    process.umask(before);
  }
});

test('overlapping calls do not disturb each other', async () => {
  const file = path.join(directory, 'a');
  await Promise.all(['one', 'two', 'three'].map((text) => replaceFile(file, text)));
  expect(['one', 'two', 'three']).toContain(fs.readFileSync(file, 'utf8'));
  expect(fs.readdirSync(directory)).toEqual(['a']);
});

test('a failure leaves the old file and no temporary one', async () => {
  const file = path.join(directory, 'a');
  fs.writeFileSync(file, 'old');
  const verify = (): Promise<void> => Promise.reject(new Error('refused'));
  await expect(replaceFile(file, 'new', { verify })).rejects.toThrow('refused');
  const full = { ...fsp, rename: () => Promise.reject(new Error('no space')) };
  await expect(replaceFile(file, 'new', { fs: full })).rejects.toThrow('no space');
  expect(fs.readFileSync(file, 'utf8')).toBe('old');
  expect(fs.readdirSync(directory)).toEqual(['a']);
});

test('a file that does not exist has no text; other errors are thrown', async () => {
  const missing = path.join(directory, 'missing');
  expect([await readIfExists(missing), readIfExistsSync(missing)]).toEqual([undefined, undefined]);
  await expect(readIfExists(directory)).rejects.toSatisfy((error) => hasCode(error, 'EISDIR'));
  expect(() => readIfExistsSync(directory)).toThrow('EISDIR');
});
