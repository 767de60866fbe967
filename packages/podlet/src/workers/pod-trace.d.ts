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
export declare function createPodTrace(options: PodTraceOptions): PodTrace;
//# sourceMappingURL=pod-trace.d.ts.map