import fs from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type CatalogueEntry, describeCniCode, errorCatalogue } from '@podwire/errors';
import { renderErrorCatalogue } from '@podwire/errors/page';

const entries: [string, CatalogueEntry][] = Object.entries(errorCatalogue);

describe.each(entries)('%s', (code, entry) => {
  it('has a name in capitals and whole sentences', () => {
    expect(code).toMatch(/^[A-Z]+(?:_[A-Z]+)*$/);
    for (const text of [entry.meaning, ...(entry.action === undefined ? [] : [entry.action])]) {
      expect(text).toMatch(/^[A-Z`].*\.$/);
      expect(text).not.toMatch(/[\n<>]/);
    }
  });

  it('has a CNI code that the specification defines or leaves to plugins', () => {
    expect(describeCniCode(entry.cni)).not.toContain('reserved');
    expect(Number.isInteger(entry.cni) && entry.cni > 0).toBe(true);
  });
});

it('uses each of its own CNI codes once, so that a runtime can tell them apart', () => {
  const own = entries.map(([, entry]) => entry.cni).filter((cni) => cni >= 100 && cni < 999);
  expect(new Set(own).size).toBe(own.length);
});

it('describes CNI codes', () => {
  expect(describeCniCode(11)).toBe('try again later');
  expect(describeCniCode(100)).toBe('Podwire’s own');
  expect(describeCniCode(99)).toContain('reserved');
  expect(describeCniCode(999)).toBe('internal error');
});

describe('renderErrorCatalogue', () => {
  it('gives a table row and a section for each code, sorted', () => {
    const page = renderErrorCatalogue({
      SECOND: {
        meaning: 'B | b.',
        action: 'Do b.',
        cni: 11,
        situations: [
          { site: 'b.ts', message: '‹x› is b' },
          { site: 'b.ts', message: '‹x› is c', action: 'Do ‹y›.' },
          { site: 'b.ts', message: `‹x› is d${' d'.repeat(70)}`, action: null },
        ],
      },
      FIRST: { meaning: 'A.', cni: 107, situations: [{ site: 'a.ts', message: 'a' }] },
    });
    expect(page.slice(page.indexOf('| Code'))).toBe(`| Code              | CNI code |
| ----------------- | -------- |
| [FIRST](#first)   | 107      |
| [SECOND](#second) | 11       |

## FIRST

A.

\`\`\`text
error: a
code: FIRST
\`\`\`

**CNI code:** 107 (Podwire’s own)

## SECOND

B | b.

\`\`\`text
error: x is b
what to do: Do b.
code: SECOND

error: x is c
what to do: Do y.
code: SECOND

error: x is d${' d'.repeat(51)}
    ${'d '.repeat(18)}d
code: SECOND
\`\`\`

**CNI code:** 11 (try again later)
`);
  });

  it('is what docs/errors.md contains', () => {
    const file = new URL('../../../docs/errors.md', import.meta.url);
    const page = fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : '';
    expect(
      page === renderErrorCatalogue(),
      'docs/errors.md is stale; run: npm run docs -w @podwire/errors',
    ).toBe(true);
  });
});
