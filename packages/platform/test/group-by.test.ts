import { expect, test } from 'vitest';
import { groupBy } from '../src/index.js';

test('items of one key stand together, in the order in which they and their keys came', () => {
  const groups = groupBy(['b1', 'a1', 'b2', 'a2'], (text) => text[0]);
  expect([...groups]).toEqual([
    ['b', ['b1', 'b2']],
    ['a', ['a1', 'a2']],
  ]);
});
