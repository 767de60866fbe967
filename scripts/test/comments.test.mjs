import { describe, expect, it } from 'vitest';
import { findQuestions } from './comments.mjs';

const linesOf = (text) => findQuestions('a.ts', text).map((fault) => fault.split(':')[1]);

describe('findQuestions', () => {
  it('finds a question word at the beginning of every form of comment', () => {
    const text = [
      '/** What it is. */',
      '  // Who asks.',
      'call(); // Whether it works.',
      '/* What C has. */',
      '/**',
      ' * Whether it is so.',
      ' */',
    ].join('\n');
    expect(linesOf(text)).toEqual(['1', '2', '3', '4', '6']);
  });

  it('names the file, the line and the word', () => {
    expect(findQuestions('packages/x/a.ts', '\n// Who asks.')).toEqual([
      'packages/x/a.ts:2: a comment begins with "Who"',
    ]);
  });

  it('accepts the words within a comment, in a later line of it and in code', () => {
    const text = [
      '/** The caller knows What. */',
      '/**',
      ' * The answer to a question:',
      ' * Who is it',
      ' */',
      '// Whatever comes.',
      "const Who = 'http://What';",
      'What *= 2;',
    ].join('\n');
    expect(linesOf(text)).toEqual([]);
  });
});
