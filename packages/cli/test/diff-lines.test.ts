import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { diffLines } from '../src/objects/diff-lines.js';

describe('a difference', () => {
  test('has three lines around it', () => {
    const lines = Array.from({ length: 20 }, (_, index) => `line ${index}`);
    const changed = lines.with(10, 'other');
    expect(diffLines(lines.join('\n'), changed.join('\n'))).toEqual([
      '…',
      ...['  line 7', '  line 8', '  line 9', '- line 10', '+ other', '  line 11', '  line 12', '  line 13'],
      '…',
    ]);
  });

  test('leads from one text to the other', () => {
    const text = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(text, text, (before, after) => {
        const lines = diffLines(before.join('\n'), after.join('\n'));
        const pick = (sign: string): string[] =>
          lines.filter((line) => !line.startsWith(sign)).map((line) => line.slice(2));
        const isSame = before.join() === after.join();
        expect(pick('+')).toEqual(isSame ? [] : before);
        expect(pick('-')).toEqual(isSame ? [] : after);
      }),
    );
  });
});
