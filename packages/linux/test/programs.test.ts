import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { findProgram, isExecutable, programDirectories } from '@podwire/linux';

let directory = '';

beforeAll(() => {
  directory = fs.mkdtempSync(path.join(os.tmpdir(), 'podwire-programs-'));
  for (const [file, mode] of [
    ['first/tool', 0o644],
    ['second/tool', 0o755],
    ['third/tool', 0o755],
  ] as const) {
    fs.mkdirSync(path.join(directory, path.dirname(file)));
    fs.writeFileSync(path.join(directory, file), '', { mode });
  }
});
afterAll(() => fs.rmSync(directory, { recursive: true, force: true }));

const at = (name: string): string => path.join(directory, name);

test('a program is the first file of its name that can be run', () => {
  const places = ['nowhere', 'first', 'second', 'third'].map(at);
  expect(findProgram('tool', places)).toBe(at('second/tool'));
  expect(findProgram('other', places)).toBeUndefined();
});

test('a directory cannot be run, although it may be searched', () => {
  expect(isExecutable(at('second'))).toBe(false);
});

test('relative directories of PATH are not looked at, and the usual ones always', () => {
  vi.stubEnv('PATH', `.:bin:${at('third')}:`);
  expect(programDirectories()[0]).toBe(at('third'));
  expect(programDirectories()).toContain('/usr/sbin');
  expect(findProgram('tool')).toBe(at('third/tool'));
  vi.unstubAllEnvs();
});
