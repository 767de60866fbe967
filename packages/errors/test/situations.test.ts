import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { type CatalogueEntry, type ErrorCode, errorCatalogue } from '@podwire/errors';
import { type Situation, situations, withoutMarks } from '@podwire/errors/page';

const root = path.resolve(import.meta.dirname, '../../..');
const rows = (Object.entries(situations) as [ErrorCode, readonly Situation[]][]).flatMap(([code, list]) =>
  list.map((situation) => [code, withoutMarks(situation.message), situation] as const),
);

/** As it stands in a source: the words between what differs. */
const wordsOf = (text: string): string[] =>
  text.split(/‹[^›]*›/).flatMap((part) => (part.trim() === '' ? [] : [part.trim()]));

/** Words of a text that inform a reader. */
const contentOf = (text: string): string[] =>
  withoutMarks(text)
    .toLowerCase()
    .match(/[a-z]{4,}/g) ?? [];

describe.each(rows)('%s: %s', (code, _, { site, message, action }) => {
  const source = fs
    .readFileSync(path.join(root, site), 'utf8')
    .replaceAll(/\s+/g, ' ')
    .replaceAll('\\`', '`');
  const { action: general }: CatalogueEntry = errorCatalogue[code];
  const advice = action === undefined ? general : action;

  it('is what the site says', () => {
    const words = [...wordsOf(message), ...wordsOf(action ?? '')];
    expect(words.filter((each) => !source.includes(each))).toEqual([]);
  });

  it('has an advice of its own only where that of the code does not fit', () => {
    if (action !== undefined) expect(action ?? undefined).not.toBe(general);
  });

  it('does not send the reader back to the message, nor repeat it', () => {
    if (typeof advice !== 'string') return;
    expect(advice).not.toMatch(/the message/i);
    expect(advice).toMatch(/\.$/);
    const told = new Set(contentOf(message));
    const fresh = contentOf(advice).filter((word) => !told.has(word));
    expect(fresh.length).toBeGreaterThan(0);
  });
});
