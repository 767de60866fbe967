/** The injected environment of a program: clock, logger, fault points. */
import { setTimeout as delay } from 'node:timers/promises';

/** Milliseconds. Node replaces a longer delay by one millisecond: a timer of a month would fire at once. */
export const longestTimer = 2 ** 31 - 1;

/** All times are in milliseconds. */
export interface Clock {
  /** Wall clock time since the epoch. */
  now(): number;
  /** Monotonic time. */
  elapsed(): number;
  /** @throws the signal's reason */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
}

/**
 * The clock of this machine. A sleep keeps the process alive: a program that awaits one would otherwise end with exit code 13
 * as soon as nothing else is pending. Sleeps in the background must end with their signal.
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

/** The part of pino's logger that Podwire uses. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

const doNothing = (): void => undefined;

export const silentLog: Log = { debug: doNothing, info: doNothing, warn: doNothing, error: doNothing };

/** Points at which a test may kill the process: before and after every external effect. Their names are stable. */
export interface FaultPoints {
  reach(point: string): void;
}

export const noFaults: FaultPoints = { reach: doNothing };
