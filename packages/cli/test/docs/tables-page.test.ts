import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { measureText } from '../../src/render/text.js';
import { pageWidth, pictures, renderPage } from './tables-page.js';

test('docs/tables.md is what npm run docs writes', () => {
  const file = path.resolve(import.meta.dirname, '../../../../docs/tables.md');
  expect(fs.readFileSync(file, 'utf8')).toBe(renderPage());
});

test.each(pictures.map((picture) => [picture.command, picture] as const))(
  '%s has no line wider than the terminal, and no row on two lines',
  (_, { lines, prose = false }) => {
    const narrow = lines(pageWidth);
    expect(Math.max(...narrow.map(measureText))).toBeLessThanOrEqual(pageWidth);
    if (prose) return;
    const isTold = narrow.at(-1)!.startsWith('-o wide');
    expect(narrow.length - Number(isTold)).toBeLessThanOrEqual(lines(Infinity).length);
  },
);
