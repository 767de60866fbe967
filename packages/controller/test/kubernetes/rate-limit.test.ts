import fc from 'fast-check';
import { expect, it } from 'vitest';
import { RateLimit } from '../../src/ovn/kubernetes/rate-limit.js';

/** Time passes by sleeping alone. */
function createClock() {
  let now = 0;
  return {
    elapsed: () => now,
    sleep: (milliseconds: number) => {
      now += milliseconds;
      return Promise.resolve();
    },
  };
}

const { signal } = new AbortController();

it('lets so many pass at once, and the others one after the other', async () => {
  const clock = createClock();
  const limit = new RateLimit(clock, { perSecond: 10, burst: 3 });
  const times: number[] = [];
  for (let call = 0; call < 5; call++) {
    await limit.wait(signal);
    times.push(clock.elapsed());
  }
  expect(times).toEqual([0, 0, 0, 100, 200]);
});

it('never lets more pass in a span of time than the burst and the rate allow', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 500 }), { maxLength: 40 }), async (pauses) => {
      const clock = createClock();
      const limit = new RateLimit(clock, { perSecond: 10, burst: 3 });
      const times: number[] = [];
      for (const milliseconds of pauses) {
        await clock.sleep(milliseconds);
        await limit.wait(signal);
        times.push(clock.elapsed());
      }
      for (const [first, from] of times.entries())
        for (const [last, to] of times.entries())
          if (last >= first)
            expect(last - first + 1).toBeLessThanOrEqual(3 + Math.floor((to - from) / 100 + 1e-6));
    }),
  );
});
