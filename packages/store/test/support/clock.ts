import type { Clock } from '@podwire/rim';

export interface FakeClock extends Clock {
  /** Lets time pass; resolves when all sleepers that were due have run on. */
  pass(milliseconds: number): Promise<void>;
  sleepers(): number;
}

/** Lets everything run on that is waiting for nothing. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Time that passes only when it is told to. */
export function createFakeClock(start = 1_700_000_000_000): FakeClock {
  let time = 0;
  const sleepers = new Set<{ due: number; wake: () => void }>();
  return {
    now: () => start + time,
    elapsed: () => time,
    sleep: (milliseconds, signal) =>
      new Promise((resolve, reject) => {
        signal.throwIfAborted();
        const fail = (): void => {
          sleepers.delete(sleeper);
          reject(signal.reason as Error);
        };
        const sleeper = {
          due: time + milliseconds,
          wake: () => {
            signal.removeEventListener('abort', fail);
            sleepers.delete(sleeper);
            resolve();
          },
        };
        signal.addEventListener('abort', fail, { once: true });
        sleepers.add(sleeper);
      }),
    pass: async (milliseconds) => {
      const end = time + milliseconds;
      await settle();
      for (;;) {
        const [next] = [...sleepers].filter(({ due }) => due <= end).toSorted((a, b) => a.due - b.due);
        if (next === undefined) break;
        time = Math.max(time, next.due);
        next.wake();
        await settle();
      }
      time = end;
    },
    sleepers: () => sleepers.size,
  };
}
