import type { OpenSpan } from '@podwire/tracing';

/** One call of an operation. */
export interface Work {
  readonly signal: AbortSignal;
  readonly span: OpenSpan;
}
