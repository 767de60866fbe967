import type { Clock } from '../../src/contract.js';

/** Time that passes only when the test says so. */
export interface TestClock extends Clock {
  /** Lets so much time pass, and everything happen that was waiting for it, in order. */
  advance(milliseconds: number): Promise<void>;
  /** Lets everything happen that needs no time. */
  settle(): Promise<void>;
}

interface Sleeper {
  readonly at: number;
  readonly order: number;
  readonly wake: () => void;
}

/** 2026-01-01. */
const epoch = 1_767_225_600_000;

export function createTestClock(): TestClock {
  const sleepers = new Set<Sleeper>();
  let elapsed = 0;
  let order = 0;
  const sleep = (milliseconds: number, signal: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason as Error);
        return;
      }
      const leave = () => {
        sleepers.delete(sleeper);
        reject(signal.reason as Error);
      };
      const wake = () => {
        signal.removeEventListener('abort', leave);
        sleepers.delete(sleeper);
        resolve();
      };
      const sleeper = { at: elapsed + milliseconds, order: ++order, wake };
      sleepers.add(sleeper);
      signal.addEventListener('abort', leave, { once: true });
    });
  const settle = async () => {
    for (let round = 0; round < 5; round++) await new Promise((resolve) => setImmediate(resolve));
  };
  return {
    now: () => epoch + elapsed,
    elapsed: () => elapsed,
    sleep,
    settle,
    async advance(milliseconds) {
      const end = elapsed + milliseconds;
      await settle();
      for (let next = earliest(sleepers, end); next !== undefined; next = earliest(sleepers, end)) {
        elapsed = Math.max(elapsed, next.at);
        for (const sleeper of [...sleepers]) if (sleeper.at <= elapsed) sleeper.wake();
        await settle();
      }
      elapsed = end;
    },
  };
}

function earliest(sleepers: ReadonlySet<Sleeper>, end: number): Sleeper | undefined {
  let found: Sleeper | undefined;
  for (const sleeper of sleepers) {
    if (sleeper.at <= end && (found === undefined || sleeper.at < found.at)) found = sleeper;
  }
  return found;
}
