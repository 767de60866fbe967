/** One piece of work between a manifest and the first packet, as plain data. */

export type AttributeValue = string | number | boolean;
export type Attributes = Readonly<Record<string, AttributeValue>>;

/** The parent's context (W3C Trace Context). */
export interface SpanContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
}

export interface Span extends SpanContext {
  readonly parentId?: string;
  /** The operation, verb first: `RunPodSandbox`, `read manifest`, `cni ADD podwire-cni`. */
  readonly name: string;
  /** Milliseconds since the epoch, with a fraction. */
  readonly startedAt: number;
  /** Milliseconds. */
  readonly duration: number;
  readonly attributes: Attributes;
  /** The error message. */
  readonly error?: string;
}

/** A span while it lasts. */
export interface OpenSpan {
  readonly context: SpanContext;
  /** A part of it. */
  child(name: string, attributes?: Attributes): OpenSpan;
  set(attributes: Attributes): void;
  /** Ends it; a second call does nothing. Whatever was thrown may be passed. */
  end(error?: unknown): void;
}

export interface Tracer {
  /** Begins a trace, or continues the given one. */
  start(name: string, parent?: SpanContext, attributes?: Attributes): OpenSpan;
}
