import type { Attributes, OpenSpan, Span, SpanContext, Tracer } from '@podwire/tracing';

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

/** The one trace of a pod: from the moment its manifest was written to its first readiness. */
export class PodTrace {
  readonly #options: PodTraceOptions;
  readonly context: SpanContext;
  #finished = false;

  constructor(options: PodTraceOptions) {
    this.#options = options;
    this.context = { traceId: newId(options.random, 16), spanId: newId(options.random, 8) };
  }

  /** A part that begins now. */
  child(name: string, attributes: Attributes = {}): OpenSpan {
    return this.#options.tracer.start(name, this.context, attributes);
  }

  isFinished(): boolean {
    return this.#finished;
  }

  /** Of a trace that goes on: itself, and what is waited for, as far as they have come. Not recorded. */
  soFar(waits: readonly (readonly [name: string, since: number])[]): Span[] {
    if (this.#finished) return [];
    const { name, startedAt, now } = this.#options;
    const { traceId, spanId: parentId } = this.context;
    const open = { attributes: { 'podwire.open': true } };
    const until = (from: number) => ({ startedAt: from, duration: Math.max(0, now() - from) });
    return [
      ...waits.map(([wait, since], index): Span => {
        const spanId = (index + 1).toString(16).padStart(16, '0');
        return { traceId, spanId, parentId, name: wait, ...until(since), ...open };
      }),
      { ...this.context, name, ...until(startedAt), ...open },
    ];
  }

  /** A part that began earlier and is over, now if not before. */
  past(name: string, from: number, to = this.#options.now()): void {
    const { traceId, spanId: parentId } = this.context;
    this.#record({ traceId, spanId: newId(this.#options.random, 8), parentId, name }, from, to);
  }

  /** The pod is where it wanted to be; only the first call counts. */
  finish(attributes: Attributes = {}): void {
    if (this.#finished) return;
    this.#finished = true;
    const { name, startedAt, now } = this.#options;
    this.#record({ ...this.context, name }, startedAt, now(), attributes);
  }

  #record(
    span: Pick<Span, 'traceId' | 'spanId' | 'parentId' | 'name'>,
    startedAt: number,
    to: number,
    attributes: Attributes = {},
  ): void {
    this.#options.record({ ...span, startedAt, duration: Math.max(0, to - startedAt), attributes });
  }
}

function newId(random: (bytes: number) => Uint8Array, bytes: number): string {
  const id = Buffer.from(random(bytes)).toString('hex');
  return /^0+$/.test(id) ? `${id.slice(1)}1` : id;
}
