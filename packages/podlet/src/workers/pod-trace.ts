import type { Attributes, OpenSpan, Span, SpanContext, Tracer } from '@podwire/tracing';

/** The one trace of a pod: from the moment its manifest was written to its first readiness. */
export interface PodTrace {
  readonly context: SpanContext;
  /** A part that begins now. */
  child(name: string, attributes?: Attributes): OpenSpan;
  /** A part that began earlier and is over, now if not before. */
  past(name: string, startedAt: number, endedAt?: number): void;
  /** The pod is where it wanted to be; only the first call counts. */
  finish(attributes?: Attributes): void;
}

export interface PodTraceOptions {
  readonly tracer: Tracer;
  readonly record: (span: Span) => void;
  /** Milliseconds since the epoch, with a fraction, the same clock as the tracer's. */
  readonly now: () => number;
  readonly random: (bytes: number) => Uint8Array;
  readonly name: string;
  /** When the cause of the pod happened. */
  readonly startedAt: number;
}

export function createPodTrace(options: PodTraceOptions): PodTrace {
  const { tracer, record, now, startedAt } = options;
  const context = { traceId: newId(options.random, 16), spanId: newId(options.random, 8) };
  let finished = false;
  const emit = (
    span: SpanContext & { readonly parentId?: string },
    called: string,
    from: number,
    to: number,
    attributes: Attributes,
  ) => record({ ...span, name: called, startedAt: from, duration: Math.max(0, to - from), attributes });
  return {
    context,
    child: (name, attributes = {}) => tracer.start(name, context, attributes),
    past(name, from, to = now()) {
      const own = { traceId: context.traceId, spanId: newId(options.random, 8), parentId: context.spanId };
      emit(own, name, from, to, {});
    },
    finish(attributes = {}) {
      if (finished) return;
      finished = true;
      emit(context, options.name, startedAt, now(), attributes);
    },
  };
}

function newId(random: (bytes: number) => Uint8Array, bytes: number): string {
  const id = Buffer.from(random(bytes)).toString('hex');
  return /^0+$/.test(id) ? `${id.slice(1)}1` : id;
}
