import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { keepSettings } from './example.js';

test('the README shows the example that is compiled and run here', () => {
  const readme = fs.readFileSync(path.join(import.meta.dirname, '../README.md'), 'utf8');
  const example = fs.readFileSync(path.join(import.meta.dirname, 'example.ts'), 'utf8');
  expect(readme).toContain(`\`\`\`ts\n${example}\`\`\``);
});

test('the example does what it says', async () => {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'pwt-readme-'));
  try {
    expect(await keepSettings(root)).toEqual([
      'changed: colour is red',
      'repaired: setting colour=blue in web',
      'removed: setting colour in web',
      'removed: directory web',
    ]);
  } finally {
    fs.rmSync(root, { recursive: true });
  }
});
