/** W3C Trace Context, level 1, section 3.2: the header (and variable) `traceparent`. */
import type { SpanContext } from './span.js';

/** version "-" trace-id "-" parent-id "-" trace-flags, small letters only; later versions may go on after another "-". */
const pattern = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/;
const onlyZeros = /^0+$/;

/**
 * `00-<trace id>-<span id>-01`; undefined for the context of a tracer that is switched off, which must not travel.
 * Flags always say "sampled": a requested trace is wanted whole.
 */
export function formatTraceparent({ traceId, spanId }: SpanContext): string | undefined {
  return isValid(traceId, spanId) ? `00-${traceId}-${spanId}-01` : undefined;
}

/** Undefined for anything that the recommendation calls invalid; its receiver then starts a trace of its own. */
export function parseTraceparent(text: string | undefined): SpanContext | undefined {
  const [, version, traceId = '', spanId = '', more] = pattern.exec(text ?? '') ?? [];
  if (version === undefined || version === 'ff') return undefined;
  // Version 00 has exactly these fields; what a later version appends is none of our business.
  if (version === '00' && more !== undefined) return undefined;
  return isValid(traceId, spanId) ? { traceId, spanId } : undefined;
}

function isValid(traceId: string, spanId: string): boolean {
  return !onlyZeros.test(traceId) && !onlyZeros.test(spanId);
}
