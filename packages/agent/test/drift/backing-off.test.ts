import { expect, test } from 'vitest';
import { BackingOff } from '../../src/drift/backing-off.js';

const create = () => {
  let now = 0;
  const backingOff = new BackingOff(() => now);
  return {
    backingOff,
    pass: (milliseconds: number) => void (now += milliseconds),
    /** As often as it may be looked at, twice a second. */
    looks: (seconds: number, isRepaired: boolean): number => {
      let count = 0;
      for (const end = now + seconds * 1_000; now < end; now += 500) {
        if (!backingOff.mayLook('a')) continue;
        backingOff.noteLook('a', isRepaired);
        count++;
      }
      return count;
    },
  };
};

test('what is repaired again and again is looked at less often', () => {
  const { looks } = create();
  expect(looks(2.5, true)).toBe(5);
  expect(looks(15, true)).toBe(4);
  expect(looks(600, true)).toBeLessThan(16);
});

test('the pause begins with the sixth repair, and is told of once', () => {
  const { backingOff } = create();
  const pauses = Array.from({ length: 8 }, () => backingOff.noteLook('a', true));
  expect(pauses.filter((pause) => pause !== undefined)).toEqual([1_000]);
  expect(pauses[5]).toBe(1_000);
});

test('looks that find nothing cost no repair its promptness', () => {
  const { backingOff, looks } = create();
  expect(looks(10, false)).toBe(20);
  expect(backingOff.mayLook('a')).toBe(true);
  looks(60, false);
  // The longest that a repair waits then.
  expect(looks(10, false)).toBe(10);
});

test('what is changed every few seconds is repaired without a pause each time', () => {
  const { backingOff, pass } = create();
  for (let time = 0; time < 50; time++) {
    expect(backingOff.mayLook('a')).toBe(true);
    backingOff.noteLook('a', true);
    pass(3_000);
  }
});

test('one subject is no other one', () => {
  const { backingOff } = create();
  for (let time = 0; time < 10; time++) backingOff.noteLook('a', true);
  expect(backingOff.mayLook('a')).toBe(false);
  expect(backingOff.mayLook('b')).toBe(true);
});
