import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const read = (name: string): string => fs.readFileSync(path.join(import.meta.dirname, name), 'utf8');

test('the README shows the example, which is compiled and run', () => {
  expect(read('../README.md')).toContain(`\`\`\`ts\n${read('example.ts')}\`\`\``);
});
