import { describe, expect, it } from 'vitest';
import { gatherParts } from './eslint.mjs';

describe('gatherParts', () => {
  it('fills each part up to the limit, and keeps the order', () => {
    const sized = [
      ['a', 3],
      ['b', 4],
      ['c', 4],
      ['d', 1],
    ];
    expect(gatherParts(sized, 8)).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ]);
  });

  it('gives a name that is larger than a part one of its own', () => {
    const sized = [
      ['a', 1],
      ['b', 20],
      ['c', 1],
    ];
    expect(gatherParts(sized, 8)).toEqual([['a'], ['b'], ['c']]);
  });
});
