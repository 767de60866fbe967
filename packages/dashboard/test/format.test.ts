import { expect, test } from 'vitest';
import { chooseTicks, formatAge, formatCount, formatDuration, formatShare, plural } from '../page/format.js';

test.each([
  [0, '0'],
  [0.0421, '42 µs'],
  [2.134, '2.13 ms'],
  [2, '2 ms'],
  [61.04, '61 ms'],
  [6_130, '6.13 s'],
  [90_000, '1.5 min'],
])('%f ms is %s', (milliseconds, text) => expect(formatDuration(milliseconds)).toBe(text));

test.each([
  [500, '0 s'],
  [59_000, '59 s'],
  [61_000, '1 min'],
  [3 * 3_600_000, '3 h'],
  [72 * 3_600_000, '3 d'],
  [-5_000, '0 s'],
])('%i ms ago is %s', (milliseconds, text) => expect(formatAge(milliseconds)).toBe(text));

test.each([
  ['65536', '65,536'],
  [String(1n << 80n), '2^80'],
  [String((1n << 80n) - 9n), '≈ 2^80'],
])('%s addresses are %s', (count, text) => expect(formatCount(count)).toBe(text));

test('shares', () => {
  expect([0, 0.0001, 0.0123, 0.5, 1].map(formatShare)).toEqual(['0 %', '< 0.1 %', '1.2 %', '50 %', '100 %']);
});

test('plurals', () => expect([plural(1, 'peer'), plural(2, 'peer')]).toEqual(['1 peer', '2 peers']));

test.each([
  [2, [0, 0.5, 1, 1.5, 2]],
  [6_130, [0, 2_000, 4_000, 6_000]],
  [11.8, [0, 5, 10]],
  [0, [0]],
])('an axis of %f ms has round ticks', (span, ticks) => expect(chooseTicks(span, 4)).toEqual(ticks));
