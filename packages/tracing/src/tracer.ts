import { randomBytes } from 'node:crypto';
import type { Attributes, OpenSpan, Span, SpanContext, Tracer } from './span.js';

export interface TracerOptions {
  /** Milliseconds since the epoch, with a fraction, for the beginning of spans; default the machine's clock. */
  readonly now?: () => number;
  /** Milliseconds of a clock that never jumps, for durations; default `performance.now`, or `now` where that is given. */
  readonly elapsed?: () => number;
  /** So many random bytes, for ids; default those of `node:crypto`. */
  readonly random?: (bytes: number) => Uint8Array;
  /** Gets every span once, when it ends: children before their parents. What it throws is ignored. */
  readonly onEnd: (span: Span) => void;
}

/** The time of day with the resolution of the monotonic clock, so that spans a microsecond apart are in order. */
export function createPreciseClock(
  wall: () => number = Date.now,
  elapsed: () => number = () => performance.now(),
): () => number {
  let offset = wall() - elapsed();
  return () => {
    const precise = offset + elapsed();
    // The time of day was set, or the clocks drifted apart over days.
    if (Math.abs(precise - wall()) > farApart) offset = wall() - elapsed();
    return offset + elapsed();
  };
}

const farApart = 50;

/** A tracer that hands spans on as plain data; it keeps nothing itself and never throws. */
export function createTracer(options: TracerOptions): Tracer {
  const now = options.now ?? createPreciseClock();
  const making: Making = {
    now,
    elapsed: options.elapsed ?? options.now ?? (() => performance.now()),
    random: options.random ?? randomBytes,
    onEnd: options.onEnd,
  };
  return {
    start: (name, parent, attributes = {}) => {
      const known = parent !== undefined && !isNowhere(parent) ? parent : undefined;
      return openSpan(making, name, known, attributes);
    },
  };
}

type Making = Required<TracerOptions>;

function openSpan(
  making: Making,
  name: string,
  parent: SpanContext | undefined,
  first: Attributes,
): OpenSpan {
  const context: SpanContext = {
    traceId: parent?.traceId ?? newId(making, 16),
    spanId: newId(making, 8),
  };
  const startedAt = making.now();
  const begin = making.elapsed();
  let attributes = first;
  let ended = false;
  return {
    context,
    child: (childName, childAttributes = {}) => openSpan(making, childName, context, childAttributes),
    set(more) {
      if (!ended) attributes = { ...attributes, ...more };
    },
    end(error) {
      if (ended) return;
      ended = true;
      const duration = Math.max(0, making.elapsed() - begin);
      hand(making, {
        ...context,
        ...(parent === undefined ? {} : { parentId: parent.spanId }),
        name,
        startedAt,
        duration,
        attributes,
        ...(error === undefined ? {} : { error: describe(error) }),
      });
    },
  };
}

/** Watching must never disturb the work that is watched. */
function hand({ onEnd }: Making, span: Span): void {
  try {
    onEnd(span);
  } catch {
    // There is no one left to report to.
  }
}

function newId({ random }: Making, bytes: number): string {
  const id = Buffer.from(random(bytes)).toString('hex');
  // All zeros mean "no trace" (W3C Trace Context, 3.2.2.3); odds of 2^-64, certainty with a bad source.
  return /^0+$/.test(id) ? `${id.slice(1)}1` : id;
}

/** The message with its causes, as in a log. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  const why = cause instanceof Error && !error.message.includes(cause.message) ? `: ${cause.message}` : '';
  return `${error.message || error.name}${why}`;
}

/** Not a valid context by W3C, so it is never sent on. */
const nowhere: SpanContext = { traceId: '0'.repeat(32), spanId: '0'.repeat(16) };

function isNowhere({ spanId }: SpanContext): boolean {
  return spanId === nowhere.spanId;
}

/** Makes nothing and costs nothing. A context that it is given is passed on, so that traces of others do not tear. */
export const noTracer: Tracer = {
  start: (_name, parent) => silentSpan(parent ?? nowhere),
};

function silentSpan(context: SpanContext): OpenSpan {
  const span: OpenSpan = { context, child: () => span, set: () => undefined, end: () => undefined };
  return span;
}

/** Runs work within a span that ends with it; what the work throws is the span's error and is thrown on. */
export async function withSpan<T>(span: OpenSpan, work: (span: OpenSpan) => Promise<T>): Promise<T> {
  try {
    const result = await work(span);
    span.end();
    return result;
  } catch (error) {
    span.end(error);
    throw error;
  }
}
