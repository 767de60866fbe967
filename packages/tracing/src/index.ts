export {
  type AgentResource,
  type AgentResourceTime,
  type AgentStage,
  type AgentTrace,
  joinAgentTraces,
  spansFromAgentTrace,
} from './agent-trace.js';
export { type OtlpSettings, readOtlpSettings } from './otlp/environment.js';
export {
  createOtlpExporter,
  type ExportCounts,
  type OtlpExporter,
  type OtlpExporterOptions,
} from './otlp/exporter.js';
export { createSpanLog, type SpanLog, type SpanLogOptions, type TraceSummary } from './span-log.js';
export type { Attributes, AttributeValue, OpenSpan, Span, SpanContext, Tracer } from './span.js';
export { formatTraceparent, parseTraceparent } from './traceparent.js';
export { createPreciseClock, createTracer, noTracer, type TracerOptions, withSpan } from './tracer.js';
export { assembleTree, flattenTree, type SpanNode } from './tree.js';
