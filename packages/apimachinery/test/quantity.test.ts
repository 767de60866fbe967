import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseQuantity } from '../src/quantity.js';

describe('quantities of Kubernetes', () => {
  test.each([
    ['0', 0n],
    ['10M', 10_000_000n],
    ['1.5Gi', 1_610_612_736n],
    ['.5k', 500n],
    ['5.', 5n],
    ['3e6', 3_000_000n],
    ['3E6', 3_000_000n],
    ['25e-1', 3n],
    ['1E', 10n ** 18n],
    ['1Ei', 1n << 60n],
    ['500m', 1n],
    ['1001m', 2n],
    ['1n', 1n],
    ['-1.5k', -1_500n],
    ['+7', 7n],
    // Beyond what a double counts exactly.
    ['9007199254740993', 9_007_199_254_740_993n],
  ])('%s', (text, value) => expect(parseQuantity(text)).toBe(value));

  test.each([
    '',
    'M',
    '10 M',
    '10MB',
    '10mi',
    '1.2.3',
    '1e',
    '--1',
    '0x10',
    '1e9999',
    '1'.repeat(65),
    '１０M',
  ])('not %s', (text) => expect(parseQuantity(text)).toBeUndefined());

  test('rounds up what is no whole number, and never down', () => {
    fc.assert(
      fc.property(fc.nat(1_000_000), fc.nat(999), (whole, thousandths) => {
        const text = `${whole}.${String(thousandths).padStart(3, '0')}`;
        expect(parseQuantity(text)).toBe(BigInt(whole) + (thousandths > 0 ? 1n : 0n));
        expect(parseQuantity(`${text}k`)).toBe(BigInt(whole) * 1000n + BigInt(thousandths));
      }),
    );
  });
});
