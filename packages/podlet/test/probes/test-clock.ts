import type { Clock } from '../../src/contract.js';

export interface TestClock extends Clock {
  /** Lets time pass, from one sleeper to the next, and everything happen that follows from it. */
  advance(milliseconds: number): Promise<void>;
  /** How many sleep. */
  sleepers(): number;
}

/** A clock that goes only when it is told to. */
export function createTestClock(): TestClock {
  let now = 0;
  const sleeping = new Set<{ readonly until: number; readonly wake: () => void }>();
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const nextUntil = (end: number) =>
    [...sleeping].filter(({ until }) => until <= end).sort((a, b) => a.until - b.until)[0];
  return {
    now: () => now,
    elapsed: () => now,
    sleep: (milliseconds, signal) =>
      new Promise((resolve, reject) => {
        const sleeper = { until: now + milliseconds, wake: resolve };
        sleeping.add(sleeper);
        signal.addEventListener('abort', () => {
          sleeping.delete(sleeper);
          reject(signal.reason as Error);
        });
      }),
    sleepers: () => sleeping.size,
    async advance(milliseconds) {
      const end = now + milliseconds;
      await settle();
      for (let next = nextUntil(end); next !== undefined; next = nextUntil(end)) {
        now = next.until;
        sleeping.delete(next);
        next.wake();
        await settle();
      }
      now = end;
      await settle();
    },
  };
}
