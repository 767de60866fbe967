import { setMaxListeners } from 'node:events';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createVirtualClock } from '../src/virtual-clock.js';

const forever = new AbortController().signal;
// Sixty sleepers at once are no leak.
setMaxListeners(0, forever);

test('sleepers wake in order of time, then of coming', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(50), { minLength: 1, maxLength: 60 }), async (times) => {
      const clock = createVirtualClock();
      const woken: [number, number][] = [];
      times.forEach((time, index) => {
        void clock.sleep(time, forever).then(() => woken.push([clock.elapsed(), index]));
      });
      await clock.run(() => woken.length === times.length);
      const expected = times.map((time, index) => [time, index]).sort(([a, i], [b, j]) => a! - b! || i! - j!);
      expect(woken).toEqual(expected);
    }),
    { numRuns: 200 },
  );
});

test('what a sleeper begins happens before the next moment', async () => {
  const clock = createVirtualClock(1_000);
  const seen: string[] = [];
  const first = async (): Promise<void> => {
    await clock.sleep(10, forever);
    await clock.sleep(5, forever);
    seen.push(`nested at ${clock.now()}`);
  };
  void first();
  void clock.sleep(20, forever).then(() => seen.push(`late at ${clock.now()}`));
  await clock.run(() => seen.length === 2);
  expect(seen).toEqual(['nested at 1015', 'late at 1020']);
});

test('a signal ends a sleep', async () => {
  const stop = new AbortController();
  const sleeping = createVirtualClock().sleep(10, stop.signal);
  stop.abort(new Error('enough'));
  await expect(sleeping).rejects.toThrow('enough');
});

test('a run without pending sleeps is an error, not a standstill', async () => {
  await expect(createVirtualClock().run(() => false)).rejects.toThrow(/no sleep is pending/);
});
