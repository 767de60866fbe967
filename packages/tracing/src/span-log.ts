import type { Span } from './span.js';

export interface SpanLogOptions {
  /** Traces kept; the least recently changed is evicted first. Default 200. */
  readonly traces?: number;
  /** Spans kept of one trace: the first ones; later ones are only counted. Default 2000. */
  readonly spansPerTrace?: number;
}

/** Summary of a trace. */
export interface TraceSummary {
  readonly traceId: string;
  readonly spans: number;
  /** Spans that there was no room for. */
  readonly dropped: number;
}

/** The latest traces in memory. */
export interface SpanLog {
  /** Fits `onEnd` of a tracer. */
  add(span: Span): void;
  /** Of one trace, in the order in which they ended; empty when it is unknown (any more). */
  get(traceId: string): readonly Span[];
  /** Longest quiet first. */
  list(): readonly TraceSummary[];
}

interface Kept {
  readonly spans: Span[];
  dropped: number;
}

export function createSpanLog({ traces = 200, spansPerTrace = 2000 }: SpanLogOptions = {}): SpanLog {
  const kept = new Map<string, Kept>();
  const touch = (traceId: string): Kept => {
    const trace = kept.get(traceId) ?? { spans: [], dropped: 0 };
    // A map keeps the order of insertion: taken out and put in again, a trace is the youngest.
    kept.delete(traceId);
    kept.set(traceId, trace);
    return trace;
  };
  const forgetOldest = (): void => {
    const [oldest] = kept.keys();
    if (kept.size > traces && oldest !== undefined) kept.delete(oldest);
  };
  return {
    add(span) {
      const trace = touch(span.traceId);
      if (trace.spans.length < spansPerTrace) trace.spans.push(span);
      else trace.dropped++;
      forgetOldest();
    },
    get: (traceId) => [...(kept.get(traceId)?.spans ?? [])],
    list: () => [...kept].map(([traceId, { spans, dropped }]) => ({ traceId, spans: spans.length, dropped })),
  };
}
