import { globalVnid } from '@podwire/objects';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { lowestVnid, Vnids } from '../src/index.js';

/** Takes the next one. */
function allocate(vnids: Vnids): number | undefined {
  const vnid = vnids.nextFree();
  if (vnid !== undefined) vnids.hold(vnid);
  return vnid;
}

describe('VNIDs', () => {
  test('begin behind the reserved ones, and are handed out in order', () => {
    const vnids = new Vnids([0, 1, 9, 11]);
    expect([allocate(vnids), allocate(vnids), allocate(vnids)]).toEqual([10, 12, 13]);
    expect([vnids.count(1), vnids.count(0), vnids.count(13), vnids.count(14)]).toEqual([1, 1, 1, 0]);
  });

  test('end at 24 bits, and go on at the beginning', () => {
    const vnids = new Vnids([10], 2 ** 24 - 1);
    expect([allocate(vnids), allocate(vnids)]).toEqual([2 ** 24 - 1, 11]);
  });

  test('come again when everything else was handed out', () => {
    const vnids = new Vnids([], lowestVnid, 13);
    expect([allocate(vnids), allocate(vnids)]).toEqual([10, 11]);
    vnids.release(10);
    expect([allocate(vnids), allocate(vnids), allocate(vnids), allocate(vnids)]).toEqual([
      12,
      13,
      10,
      undefined,
    ]);
  });

  test('are free when the last namespace has gone', () => {
    const vnids = new Vnids([10, 10], lowestVnid, 10);
    vnids.release(10);
    expect([vnids.count(10), vnids.nextFree()]).toEqual([1, undefined]);
    vnids.release(10);
    expect([vnids.count(10), vnids.nextFree()]).toEqual([0, 10]);
    vnids.release(10);
    expect(vnids.nextFree()).toBe(10);
  });

  test('below the lowest are never handed out', () => {
    const vnids = new Vnids([globalVnid, 5], lowestVnid, 10);
    for (const vnid of [globalVnid, 5, 7]) vnids.release(vnid);
    expect([allocate(vnids), allocate(vnids)]).toEqual([10, undefined]);
  });

  test('have one owner each, in whatever order they come and go, with restarts in between', () => {
    const step = fc.oneof(
      { weight: 3, arbitrary: fc.constant('allocate' as const) },
      { weight: 2, arbitrary: fc.nat({ max: 30 }) },
      { weight: 1, arbitrary: fc.constantFrom('restart' as const, 'forget' as const) },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 150 }), (steps) => {
        const highest = 25;
        let vnids = new Vnids([], lowestVnid, highest);
        const held: number[] = [];
        for (const each of steps) {
          if (each === 'allocate') {
            const vnid = allocate(vnids);
            expect(vnid === undefined).toBe(held.length === highest - lowestVnid + 1);
            if (vnid === undefined) continue;
            expect(held).not.toContain(vnid);
            held.push(vnid);
          } else if (typeof each === 'number') {
            const [released] = held.splice(each % (held.length || 1), 1);
            if (released !== undefined) vnids.release(released);
          } else vnids = new Vnids(held, each === 'forget' ? lowestVnid : vnids.cursor, highest);
        }
      }),
      { numRuns: 50 },
    );
  });
});
