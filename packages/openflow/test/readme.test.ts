import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { tryFlows } from './example-fake.js';

const read = (name: string): string => fs.readFileSync(path.join(import.meta.dirname, name), 'utf8');

test.each(['example-bridge.ts', 'example-fake.ts'])(
  'the README shows %s, which is compiled and run',
  (name) => {
    expect(read('../README.md')).toContain(`\`\`\`ts\n${read(name)}\`\`\``);
  },
);

test('the example of the fake switch does what it says', async () => {
  expect(await tryFlows()).toEqual([[], [2], [1]]);
});
