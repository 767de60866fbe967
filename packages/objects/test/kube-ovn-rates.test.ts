import { formatRate, parseRate } from '@podwire/objects/kube-ovn-names';
import fc from 'fast-check';
import { expect, it } from 'vitest';

it.each([
  ['3', 3_000_000],
  ['0.5', 500_000],
  ['0.000001', 1],
  ['0', 0],
  ['', undefined],
  ['-1', undefined],
  ['10M', undefined],
  ['1e3', undefined],
  ['12345678', undefined],
])('the rate %j is %j bit/s', (text, rate) => {
  expect(parseRate(text)).toBe(rate);
});

it('any rate can be read again as it was written', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 9_999_999_000_000 }), (rate) => {
      expect(parseRate(formatRate(rate))).toBe(rate);
    }),
  );
});

it('a rate that is too large to be read is written as the largest one', () => {
  expect(parseRate(formatRate(1e15))).toBe(9_999_999_000_000);
});
