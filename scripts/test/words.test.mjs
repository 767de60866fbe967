import { describe, expect, it } from 'vitest';
import { findOldWords } from './words.mjs';

describe('findOldWords', () => {
  it('finds a word in names, comments and file names', () => {
    const text = 'const a = 1;\nkeepHouse(); // for WHO\n/** For nobody. */\nlast_words = 2;\n';
    const found = findOldWords('packages/x/src/slow-path.ts', text).map(({ word, place }) => [word, place]);
    expect(found).toEqual([
      ['slow path', 'packages/x/src/slow-path.ts'],
      ['keep house', 'packages/x/src/slow-path.ts:2'],
      ['nobody', 'packages/x/src/slow-path.ts:3'],
      ['last words', 'packages/x/src/slow-path.ts:4'],
    ]);
  });

  it('leaves alone what the field says', () => {
    const text = 'a recommendation; the same way\nchown 65534 nobody\nshelfLife\n';
    expect(findOldWords('packages/x/src/a.ts', text)).toHaveLength(1);
    expect(findOldWords('packages/cli/src/a.ts', "state: 'vacant'")).toEqual([]);
    expect(findOldWords('packages/agent/src/a.ts', "state: 'vacant'")).toHaveLength(1);
  });
});
