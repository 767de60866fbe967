/** Steps of one request and the time of each. Times are milliseconds of a clock that never jumps. */
import type { ResourceSpan, Tracer } from '@podwire/engine';

export interface StageSpan {
  readonly name: string;
  /** Milliseconds since the start of the request. */
  readonly start: number;
  readonly duration: number;
}

export interface Trace {
  readonly id: number;
  readonly command: string;
  /** Endpoint key, where the request concerns one. */
  readonly endpoint?: string;
  /** NAMESPACE/NAME of the pod, as far as known. */
  readonly pod?: string;
  /** W3C trace context as the runtime handed it over (CNI conventions, TRACEPARENT). */
  readonly parent?: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly duration: number;
  /** `ok`, or the code of the error. */
  readonly result: string;
  readonly error?: string;
  readonly stages: readonly StageSpan[];
  /** `start` of each counts from the start of the request. */
  readonly resources: readonly ResourceSpan[];
}

/** A trace while it is being made. */
export interface RequestTrace {
  readonly id: number;
  /** Begins a stage; the one before ends here. */
  stage(name: string): void;
  identify(facts: { endpoint?: string; pod?: string }): void;
  /** For the engine: its spans count from the moment of this call. */
  resources(): Tracer;
  finish(result: string, error?: string): Trace;
}

export interface TraceClocks {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Milliseconds, monotonic. */
  readonly elapsed: () => number;
}

export interface StartedTrace {
  readonly id: number;
  readonly command: string;
  readonly parent?: string;
}

export function startTrace(started: StartedTrace, clocks: TraceClocks): RequestTrace {
  const startedAt = clocks.now();
  const origin = clocks.elapsed();
  const since = (): number => clocks.elapsed() - origin;
  const stages: StageSpan[] = [];
  const resources: ResourceSpan[] = [];
  let open: { name: string; start: number } | undefined;
  let facts: { endpoint?: string; pod?: string } = {};

  const close = (at: number): void => {
    if (open !== undefined) stages.push({ name: open.name, start: open.start, duration: at - open.start });
    open = undefined;
  };
  return {
    id: started.id,
    stage(name) {
      const start = since();
      close(start);
      open = { name, start };
    },
    identify(more) {
      facts = { ...facts, ...more };
    },
    resources() {
      const offset = since();
      return (span) => resources.push({ ...span, start: span.start + offset });
    },
    finish(result, error) {
      const duration = since();
      close(duration);
      const outcome = error === undefined ? { result } : { result, error };
      return { ...started, ...facts, startedAt, duration, ...outcome, stages, resources };
    },
  };
}

/** The latest traces, oldest first. */
export interface TraceLog {
  nextId(): number;
  add(trace: Trace): void;
  list(): readonly Trace[];
  find(id: number): Trace | undefined;
  /** Keeps as many from now on. */
  resize(capacity: number): void;
}

/** @param onAdd gets each one too, for export */
export function createTraceLog(initialCapacity: number, onAdd?: (trace: Trace) => void): TraceLog {
  let capacity = initialCapacity;
  let ring: Trace[] = [];
  let lastId = 0;
  return {
    nextId: () => ++lastId,
    add(trace) {
      onAdd?.(trace);
      ring.push(trace);
      // Cut in slices, not one by one: shifting an array is linear.
      if (ring.length >= capacity * 2) ring = ring.slice(ring.length - capacity);
    },
    list: () => (capacity === 0 ? [] : ring.slice(-capacity)),
    find: (id) => ring.slice(-capacity).find((trace) => trace.id === id),
    resize(next) {
      capacity = next;
      ring = next === 0 ? [] : ring.slice(-next);
    },
  };
}
