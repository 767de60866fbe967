/** What comes from outside: time, logs, tests' fault points, and what one call carries. */
import type { OpenSpan } from '@podwire/tracing';

/** Milliseconds; passed in so that tests have their own. */
export interface Clock {
  /** Since the epoch. */
  now(): number;
  /** Of a clock that only goes forward. */
  elapsed(): number;
  /** @throws the signal's reason */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
}

/** What pino's loggers are, as far as it is used here. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/**
 * Points at which a test may end the process. They are reached between all steps, before and after every outside effect;
 * names are stable.
 */
export interface FaultPoints {
  reach(point: string): void;
}

export const noFaults: FaultPoints = { reach: () => undefined };

/** What one call of an operation carries. */
export interface Work {
  readonly signal: AbortSignal;
  readonly span: OpenSpan;
}
