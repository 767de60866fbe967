/** What a program has of the outside and is handed in: time, logs, and the points at which a test may end it. */
import { setTimeout as delay } from 'node:timers/promises';
import { longestTimer } from './deadline.js';

/** Milliseconds; passed in so that tests have their own. */
export interface Clock {
  /** Since the epoch. */
  now(): number;
  /** Of a clock that only goes forward. */
  elapsed(): number;
  /** @throws the signal's reason */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
}

/**
 * The machine's. A sleeper keeps its process: somebody who waits for a holder to die must not find that the program has ended
 * instead (Node then exits with code 13). What sleeps in the background ends with its signal.
 */
export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  sleep: async (milliseconds, signal) => {
    for (let rest = milliseconds; ; rest -= longestTimer) {
      await delay(Math.min(rest, longestTimer), undefined, { signal });
      if (!(rest > longestTimer)) return;
    }
  },
};

/** What pino's loggers are, as far as it is used here. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

const quiet = (): void => undefined;

export const silentLog: Log = { debug: quiet, info: quiet, warn: quiet, error: quiet };

/**
 * Points at which a test may end the process. They are reached between all steps, before and after every outside effect;
 * names are stable.
 */
export interface FaultPoints {
  reach(point: string): void;
}

export const noFaults: FaultPoints = { reach: quiet };

export { deadlineSignal, longestTimer, withDeadline } from './deadline.js';
export { createOnDemand, type OnDemand } from './on-demand.js';
export { orAborted, untilAborted, waitUntil } from './signals.js';
