import { expect, test } from 'vitest';
import { createTestClock, type TestClock } from '../src/testing.js';

const { signal } = new AbortController();

/** When who woke, as the clock showed it. */
function record(clock: TestClock, ...lengths: readonly number[]): string[] {
  const woken: string[] = [];
  for (const length of lengths)
    void clock.sleep(length, signal).then(() => woken.push(`${length}@${clock.elapsed()}`));
  return woken;
}

test('sleepers wake in their order, each at its own time', async () => {
  const clock = createTestClock({ epoch: 1_000 });
  const woken = record(clock, 30, 10, 20, 40);
  await clock.advance(30);
  expect(woken).toEqual(['10@10', '20@20', '30@30']);
  expect(clock.sleepers()).toBe(1);
  expect([clock.now(), clock.elapsed()]).toEqual([1_030, 30]);
});

test('who sleeps again while time passes wakes again', async () => {
  const clock = createTestClock();
  let beats = 0;
  const beat = async (): Promise<void> => {
    for (;;) {
      await clock.sleep(10, signal);
      beats++;
    }
  };
  void beat();
  await clock.advance(95);
  expect(beats).toBe(9);
});

test('after a leap all who are due wake at the end of it', async () => {
  const clock = createTestClock();
  const woken = record(clock, 10, 20, 40);
  clock.leap(30);
  await clock.settle();
  expect(woken).toEqual(['10@30', '20@30']);
});

test('the wall is moved without time passing, on one machine alone', async () => {
  const here = createTestClock({ epoch: 1_000 });
  const there = here.another(500);
  here.jump(-200);
  await there.advance(10);
  expect([here.now(), there.now()]).toEqual([810, 1_510]);
  expect([here.elapsed(), there.elapsed()]).toEqual([10, 10]);
});

test('sleep ends with the signal and its reason, also when that has come before', async () => {
  const clock = createTestClock();
  const stop = new AbortController();
  const sleeping = clock.sleep(10, stop.signal);
  stop.abort(new Error('enough'));
  await expect(sleeping).rejects.toThrow('enough');
  await expect(clock.sleep(10, stop.signal)).rejects.toThrow('enough');
  expect(clock.sleepers()).toBe(0);
});
