import type { Clock } from '@podwire/rim';

/** A clock that stands still until it is told: who sleeps wakes when the time has come. */
export interface ManualClock extends Clock {
  advance(milliseconds: number): void;
}

export function createManualClock(): ManualClock {
  let time = 0;
  const sleepers = new Set<{ readonly until: number; wake(): void }>();
  return {
    now: () => 1_700_000_000_000 + time,
    elapsed: () => time,
    sleep: (milliseconds, signal) =>
      new Promise((resolve, reject) => {
        signal.throwIfAborted();
        const stop = (): void => {
          sleepers.delete(sleeper);
          reject(signal.reason as Error);
        };
        const sleeper = {
          until: time + milliseconds,
          wake() {
            sleepers.delete(sleeper);
            signal.removeEventListener('abort', stop);
            resolve();
          },
        };
        sleepers.add(sleeper);
        signal.addEventListener('abort', stop, { once: true });
      }),
    advance(milliseconds) {
      time += milliseconds;
      for (const sleeper of [...sleepers]) if (sleeper.until <= time) sleeper.wake();
    },
  };
}
