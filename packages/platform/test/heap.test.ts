import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Heap } from '../src/index.js';

const drain = (heap: Heap<number>): number[] => Array.from({ length: heap.size }, () => heap.pop()!);

test('property: items come out in order, also after some were dropped', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(50)), fc.integer({ min: 1, max: 4 }), (items, divisor) => {
      const heap = new Heap<number>((a, b) => a < b);
      for (const item of items) heap.push(item);
      expect(heap.first).toBe(items.length === 0 ? undefined : Math.min(...items));
      heap.retain((item) => item % divisor === 0);
      const expected = items.filter((item) => item % divisor === 0).sort((a, b) => a - b);
      expect(drain(heap)).toEqual(expected);
      expect([heap.pop(), heap.size]).toEqual([undefined, 0]);
    }),
  );
});
