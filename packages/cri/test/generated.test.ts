import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { methods, pathOf } from '../src/methods.js';
import { createFakeRuntime } from '../src/fake/index.js';

const root = path.resolve(import.meta.dirname, '..');

const readFiles = (directory: string): Record<string, string> =>
  Object.fromEntries(
    fs.readdirSync(directory).map((name) => [name, fs.readFileSync(path.join(directory, name), 'utf8')]),
  );

test('the generated messages are those of the .proto files (else: npm run generate -w @podwire/cri)', () => {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'pwt-proto-'));
  onTestFinished(() => fs.rmSync(directory, { recursive: true }));
  execFileSync(process.execPath, [path.join(root, '../../scripts/generate-messages.mjs'), 'cri', directory]);
  expect(readFiles(directory)).toEqual(readFiles(path.join(root, 'src/generated')));
});

test('every method of a runtime has a path in both versions', () => {
  const runtime = createFakeRuntime() as unknown as Record<string, unknown>;
  const names = Object.keys(methods);
  expect(names.filter((name) => typeof runtime[name] !== 'function')).toEqual([]);
  expect(names).toHaveLength(31);
  expect(pathOf(methods.listPodSandbox, 'v1')).toBe('/runtime.v1.RuntimeService/ListPodSandbox');
  expect(pathOf(methods.pullImage, 'v1alpha2')).toBe('/runtime.v1alpha2.ImageService/PullImage');
  expect(names.filter((name) => methods[name as keyof typeof methods].isStream)).toEqual([
    'getContainerEvents',
  ]);
});
