import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { ask } from './example.js';

test('the README shows the example that is compiled and run here', () => {
  const readme = fs.readFileSync(path.join(import.meta.dirname, '../README.md'), 'utf8');
  const example = fs.readFileSync(path.join(import.meta.dirname, 'example.ts'), 'utf8');
  expect(readme).toContain(`\`\`\`ts\n${example}\`\`\``);
});

test('the example says what the README says', () => {
  const policy = 'networking.k8s.io/v1 NetworkPolicy shop/only-from-web';
  expect(ask('shop/web', 80)).toBe(`allow: ${policy} spec.ingress[0]`);
  expect(ask('shop/web', 81)).toBe(`deny: ${policy} end-of-tier`);
});
