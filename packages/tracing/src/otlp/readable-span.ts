import type { HrTime } from '@opentelemetry/api';
import type { Resource } from '@opentelemetry/resources';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import type { Span } from '../span.js';

// Numbers of @opentelemetry/api's SpanKind, SpanStatusCode and TraceFlags: its values are not loaded unless exported.
const INTERNAL = 0;
const UNSET = 0;
const ERROR = 2;
const SAMPLED = 1;

/** Our span as OpenTelemetry's exporters read it, with the same ids. */
export function toReadableSpan(span: Span, resource: Resource): ReadableSpan {
  const contextOf = (spanId: string) => ({ traceId: span.traceId, spanId, traceFlags: SAMPLED });
  return {
    name: span.name,
    kind: INTERNAL,
    spanContext: () => contextOf(span.spanId),
    ...(span.parentId === undefined ? {} : { parentSpanContext: contextOf(span.parentId) }),
    startTime: toHrTime(span.startedAt),
    endTime: toHrTime(span.startedAt + span.duration),
    duration: toHrTime(span.duration),
    status: span.error === undefined ? { code: UNSET } : { code: ERROR, message: span.error },
    attributes: { ...span.attributes },
    links: [],
    events: [],
    ended: true,
    resource,
    instrumentationScope: { name: 'podwire' },
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

/** Milliseconds as seconds and nanoseconds; both whole, which a fraction alone would not keep. */
export function toHrTime(milliseconds: number): HrTime {
  const seconds = Math.floor(milliseconds / 1000);
  const nanoseconds = Math.round((milliseconds - seconds * 1000) * 1e6);
  return nanoseconds === 1e9 ? [seconds + 1, 0] : [seconds, nanoseconds];
}
