export type { Attributes, AttributeValue, OpenSpan, Span, SpanContext, Tracer } from './span.js';
