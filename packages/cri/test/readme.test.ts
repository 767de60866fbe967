import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { createFakeRuntime } from '../src/fake/index.js';
import { sayHostname } from './example.js';
import { serve } from './support.js';

test('the README shows the example that is compiled and run here', () => {
  const readme = fs.readFileSync(path.join(import.meta.dirname, '../README.md'), 'utf8');
  const example = fs.readFileSync(path.join(import.meta.dirname, 'example.ts'), 'utf8');
  expect(readme).toContain(`\`\`\`ts\n${example}\`\`\``);
});

test('the example does what it says', async () => {
  const fake = createFakeRuntime({ images: ['busybox'], exec: () => ({ stdout: 'hello\n' }) });
  const { socket } = await serve(fake);
  expect(await sayHostname(socket, 'busybox')).toBe('hello');
  expect(await sayHostname(socket, 'absent')).toBe('there is no image absent');
  expect((await fake.listPodSandbox({})).items).toEqual([]);
});
