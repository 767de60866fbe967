import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const root = path.resolve(import.meta.dirname, '..');

const readFiles = (directory: string): Record<string, string> =>
  Object.fromEntries(
    fs.readdirSync(directory).map((name) => [name, fs.readFileSync(path.join(directory, name), 'utf8')]),
  );

test('etcd’s messages are those of the .proto files (else: npm run generate -w @podwire/store)', () => {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'pwt-proto-'));
  onTestFinished(() => fs.rmSync(directory, { recursive: true }));
  execFileSync(process.execPath, [
    path.join(root, '../../scripts/generate-messages.mjs'),
    'store',
    directory,
  ]);
  expect(readFiles(directory)).toEqual(readFiles(path.join(root, 'src/etcd/generated')));
});
