import { containsAddress, parsePrefix } from '@podwire/addresses';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mergeNets, subtractNets } from '../src/compile/nets.js';

const net = fc.tuple(fc.nat(255), fc.integer({ min: 24, max: 32 })).map(([last, length]) => {
  const free = 32 - length;
  return `10.0.0.${(last >> free) << free}/${length}`;
});
const includes = (nets: readonly string[], last: number): number =>
  nets.filter((each) => containsAddress(parsePrefix(each), { family: 4, value: BigInt(0x0a000000 + last) }))
    .length;

describe('prefixes', () => {
  it('are merged to the fewest of the same addresses, none within another', () => {
    fc.assert(
      fc.property(fc.array(net, { maxLength: 8 }), (nets) => {
        const merged = mergeNets(nets, 4);
        for (let last = 0; last < 256; last++)
          expect(includes(merged, last)).toBe(includes(nets, last) > 0 ? 1 : 0);
        expect(mergeNets(merged, 4)).toEqual(merged);
      }),
      { numRuns: 200 },
    );
  });

  it('lose what is excepted', () => {
    fc.assert(
      fc.property(net, fc.array(net, { maxLength: 4 }), (from, except) => {
        const left = subtractNets(from, except);
        for (let last = 0; last < 256; last++)
          expect(includes(left, last)).toBe(
            includes([from], last) > 0 && includes(except, last) === 0 ? 1 : 0,
          );
      }),
      { numRuns: 200 },
    );
  });

  it.each([
    [['0.0.0.0/0', '10.0.0.0/8'], 4, ['0.0.0.0/1', '128.0.0.0/1']],
    [['::/0'], 6, ['::/1', '8000::/1']],
    [['fd00::/65', 'fd00::8000:0:0:0/65'], 6, ['fd00::/64']],
    [[], 6, []],
  ] as const)('%j become %j', (nets, family, wanted) => {
    expect(mergeNets(nets, family)).toEqual(wanted);
  });
});
