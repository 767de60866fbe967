import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatPrefix, parsePrefix } from '@podwire/addresses';
import { FreeBlocks, FreeNumbers } from '../src/index.js';

const never = (): number => 0;

describe('free blocks', () => {
  it('are found around the end, and not at all when there are none', () => {
    const free = new FreeBlocks(parsePrefix('10.0.0.0/24'), 26);
    const found = [3, 3, 3, 3].map((start) => {
      const block = free.next(start, never)!;
      free.take(block);
      return formatPrefix(block);
    });
    expect(found).toEqual(['10.0.0.192/26', '10.0.0.0/26', '10.0.0.64/26', '10.0.0.128/26']);
    expect(free.next(0, never)).toBeUndefined();
    free.giveBack(parsePrefix('10.0.0.64/26'));
    expect(formatPrefix(free.next(2, never)!)).toBe('10.0.0.64/26');
  });

  it('of other sizes cover what they share addresses with', () => {
    const free = new FreeBlocks(parsePrefix('10.0.0.0/24'), 26);
    free.take(parsePrefix('10.0.0.0/25'));
    free.take(parsePrefix('10.0.0.128/28'));
    free.take(parsePrefix('10.0.0.144/28'));
    expect(formatPrefix(free.next(0, never)!)).toBe('10.0.0.192/26');
    free.giveBack(parsePrefix('10.0.0.128/28'));
    expect(free.isFree(parsePrefix('10.0.0.128/26'))).toBe(false);
    free.giveBack(parsePrefix('10.0.0.144/28'));
    expect(free.isFree(parsePrefix('10.0.0.128/26'))).toBe(true);
  });

  it('are none where a block surrounds the pool', () => {
    const free = new FreeBlocks(parsePrefix('10.1.0.0/16'), 24);
    free.take(parsePrefix('10.0.0.0/8'));
    expect([free.next(0), free.free]).toEqual([undefined, 0]);
    free.giveBack(parsePrefix('10.0.0.0/8'));
    expect(free.free).toBe(256);
  });

  it('are found in an order of their own', () => {
    const backwards = { placeOf: (block: number) => 3 - block, blockAt: (place: number) => 3 - place };
    const free = new FreeBlocks(parsePrefix('10.0.0.0/24'), 26, backwards);
    free.take(parsePrefix('10.0.0.192/26'));
    const found = free.next(0)!;
    expect([formatPrefix(found), free.placeOf(found)]).toEqual(['10.0.0.128/26', 1]);
    expect(formatPrefix(free.next(3)!)).toBe('10.0.0.0/26');
  });

  it('of the largest IPv6 pool are numbers too', () => {
    const free = new FreeBlocks(parsePrefix('fd00::/8'), 122);
    expect(free.next(2 ** 31, never)).toBeDefined();
  });

  it('are what a list of all blocks would say', () => {
    const index = fc.nat({ max: 79 });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.boolean(), index), { maxLength: 200 }),
        index,
        fc.subarray([1, 5, 33, 64]),
        (steps, start, reserved) => {
          const free = new FreeBlocks(parsePrefix('10.0.0.0/25'), 32);
          const taken = new Set(Array.from({ length: 48 }, (_, i) => 80 + i));
          const block = (n: number) => parsePrefix(`10.0.0.${n}/32`);
          for (const n of taken) free.take(block(n));
          for (const [take, n] of steps) {
            if (take === taken.has(n)) continue;
            if (take) free.take(block(n));
            else free.giveBack(block(n));
            if (take) taken.add(n);
            else taken.delete(n);
          }
          const order = Array.from({ length: 128 }, (_, i) => (start + i) % 128);
          const expected = order.find((n) => !taken.has(n) && !reserved.includes(n));
          const found = free.next(start, (one) =>
            reserved.includes(Number(one.address.value & 127n)) ? 1 : 0,
          );
          expect(found && Number(found.address.value & 127n)).toBe(expected);
          expect(free.free).toBe(128 - taken.size);
        },
      ),
    );
  });
});

describe('free numbers', () => {
  it('are taken and given back once, however often it is said', () => {
    const free = new FreeNumbers(40);
    for (const number of [0, 31, 32, 32]) free.take(number);
    expect([free.free, free.isFree(31), free.isFree(33)]).toEqual([37, false, true]);
    for (const number of [31, 31, 39]) free.giveBack(number);
    expect([free.free, free.next(31), free.next(32)]).toEqual([38, 31, 33]);
  });

  it('are found around the end, and not at all when there are none', () => {
    const free = new FreeNumbers(33);
    for (let number = 1; number < 33; number++) free.take(number);
    expect([free.firstFrom(1), free.next(1)]).toEqual([undefined, 0]);
    free.take(0);
    expect([free.next(7), free.free]).toEqual([undefined, 0]);
  });
});
