import { setTimeout as delay } from 'node:timers/promises';

/** Milliseconds; passed in so that tests have their own. */
export interface Clock {
  /** Since the epoch. */
  now(): number;
  /** Of a clock that only goes forward. */
  elapsed(): number;
  /** @throws the signal's reason */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  // Unreferenced: polling is no reason for a process to stay.
  sleep: (milliseconds, signal) => delay(milliseconds, undefined, { signal, ref: false }),
};
