/** What comes from outside: time, logs, tests' fault points, and what one call carries. */
import type { OpenSpan } from '@podwire/tracing';

export { type Clock, type FaultPoints, type Log, noFaults } from '@podwire/platform';

/** What one call of an operation carries. */
export interface Work {
  readonly signal: AbortSignal;
  readonly span: OpenSpan;
}
