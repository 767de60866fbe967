import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TimerQueue } from '../../src/probes/timer-queue.js';
import { createTestClock } from '@podwire/platform/testing';

test('each is called at its time, in order, but for those that were taken back', async () => {
  const plan = fc.array(fc.record({ time: fc.nat(1000), cancelled: fc.boolean() }), { maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(plan, async (entries) => {
      const clock = createTestClock();
      const timers = new TimerQueue(clock);
      const called: [planned: number, at: number][] = [];
      for (const { time, cancelled } of entries) {
        const cancel = timers.at(time, () => called.push([time, clock.elapsed()]));
        if (cancelled) cancel();
      }
      expect(clock.sleepers()).toBeLessThanOrEqual(1);
      await clock.advance(2000);
      const expected = entries.filter(({ cancelled }) => !cancelled).map(({ time }) => time);
      expect(called.map(([planned]) => planned)).toEqual(expected.sort((a, b) => a - b));
      for (const [planned, at] of called) expect(at).toBe(planned);
      expect(clock.sleepers()).toBe(0);
    }),
    { numRuns: 50 },
  );
});

test('an earlier one that comes later is not late, and one planned by another is heard', async () => {
  const clock = createTestClock();
  const timers = new TimerQueue(clock);
  const called: string[] = [];
  timers.at(100, () => called.push(`late ${clock.elapsed()}`));
  await clock.advance(10);
  timers.at(50, () => {
    called.push(`early ${clock.elapsed()}`);
    timers.at(60, () => called.push(`next ${clock.elapsed()}`));
    timers.at(0, () => called.push(`past ${clock.elapsed()}`));
  });
  await clock.advance(200);
  expect(called).toEqual(['early 50', 'past 50', 'next 60', 'late 100']);
});

test('closed, it is silent', async () => {
  const clock = createTestClock();
  const timers = new TimerQueue(clock);
  timers.at(10, () => expect.unreachable());
  timers.close();
  await clock.advance(100);
  expect(clock.sleepers()).toBe(0);
});
