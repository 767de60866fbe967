import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseMilli, parseQuantity, parseUnits } from '../../src/wishes/quantity.js';

test.each([
  ['100m', 100n],
  ['1', 1000n],
  ['1.5', 1500n],
  ['.5', 500n],
  ['2.', 2000n],
  ['0.0001', 1n],
  ['1e1', 10_000n],
  ['100u', 1n],
  ['-2', -2000n],
])('%s processors are %d thousandths', (text, milli) => expect(parseMilli(text)).toBe(milli));

test.each([
  ['128974848', 128974848n],
  ['129e6', 129_000_000n],
  ['129M', 129_000_000n],
  ['123Mi', 128974848n],
  ['1.5Gi', 1610612736n],
  ['1Ei', 1n << 60n],
  ['1E', 10n ** 18n],
  ['1E3', 1000n],
  ['25e-1', 3n],
  ['1500m', 2n],
])('%s is %d bytes', (text, bytes) => expect(parseUnits(text)).toBe(bytes));

test.each(['', '.', 'x', '1x', '1 Gi', '1gi', '--1', '1e', '1e999', '0x10', '1Gi2', '9'.repeat(31)])(
  '%j is no quantity',
  (text) => expect(parseQuantity(text)).toBeUndefined(),
);

test('whole numbers with any suffix are what they are times the suffix', () => {
  const powers = { '': 0, Ki: 10, Mi: 20, Gi: 30, Ti: 40 } as const;
  fc.assert(
    fc.property(
      fc.bigInt({ min: 0n, max: 10n ** 12n }),
      fc.constantFrom(...Object.keys(powers)),
      (n, suffix) => {
        const power = BigInt(powers[suffix as keyof typeof powers]);
        expect(parseUnits(`${n}${suffix}`)).toBe(n << power);
      },
    ),
  );
});
