import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { silentLog, systemClock } from '@podwire/platform';
import { expect, test } from 'vitest';
import { openStore } from '../src/index.js';
import { clearSeats, followSeats, takeSeat } from './example.js';

test('the README shows the example that is compiled and run here', () => {
  const readme = fs.readFileSync(path.join(import.meta.dirname, '../README.md'), 'utf8');
  const example = fs.readFileSync(path.join(import.meta.dirname, 'example.ts'), 'utf8');
  expect(readme).toContain(`\`\`\`ts\n${example}\`\`\``);
});

test('the example does what it says', async () => {
  const directory = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'pwt-readme-')), 'store');
  const store = await openStore({ kind: 'embedded', directory }, { log: silentLog, clock: systemClock });
  const names = ['ann', 'bob', 'cleo'];
  const seats = await Promise.all(names.map((name) => takeSeat(store, name, ['1', '2'])));
  expect(seats.filter((seat) => seat === undefined)).toHaveLength(1);
  const over = new AbortController();
  const clearing = clearSeats(`embedded:${directory}`, 'me', over.signal);
  const sizes: number[] = [];
  for await (const { size } of followSeats(store, over.signal)) {
    sizes.push(size);
    if (size === 0) break;
  }
  expect(sizes.at(-1)).toBe(0);
  over.abort();
  await clearing;
  await store.close();
  fs.rmSync(path.dirname(directory), { recursive: true });
});
