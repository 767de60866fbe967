import { expect, test } from 'vitest';
import { compact } from '../src/index.js';

test('members that are undefined are absent; null and empty ones stay', () => {
  const copy: { a: number; b?: string; c: null; d: string } = compact({
    a: 1,
    b: undefined as string | undefined,
    c: null,
    d: '',
  });
  expect(Object.keys(copy)).toEqual(['a', 'c', 'd']);
});
