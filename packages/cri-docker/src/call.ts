import type { CallOptions } from '@podwire/cri';
import { deadlineSignal } from '@podwire/platform';
import { type Attributes, type OpenSpan, parseTraceparent, type Tracer, withSpan } from '@podwire/tracing';

/** One call of an operation. */
export interface Work {
  readonly signal: AbortSignal;
  readonly span: OpenSpan;
}

/** As a client of the interface would have it. */
const defaultTimeoutMs = 120_000;

/** The caller's signal and deadline in one; `extra` milliseconds are what the call itself may take longer. */
export function signalOf(options: CallOptions | undefined, extra = 0): AbortSignal {
  return deadlineSignal((options?.timeoutMs ?? defaultTimeoutMs) + extra, options?.signal);
}

/** For calls that may take as long as they take. */
export const never: AbortSignal = new AbortController().signal;

/** Does the work of a call in a span below the caller's. */
export function inSpan<T>(
  { tracer }: { readonly tracer: Tracer },
  name: string,
  attributes: Attributes,
  options: CallOptions | undefined,
  work: (span: OpenSpan) => Promise<T>,
): Promise<T> {
  return withSpan(tracer.start(name, parseTraceparent(options?.traceparent), attributes), work);
}
