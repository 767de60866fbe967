/** Traces to an OpenTelemetry collector, where the environment names one: what this agent did, within the trace of who asked. */
import type { KindRegistry } from '@podwire/engine';
import type { Log } from './log.js';
import type { Trace } from './trace.js';

export interface TraceExport {
  add(trace: Trace): void;
  close(): Promise<void>;
}

/** Nothing is loaded where nothing is exported. @throws Error for an endpoint that is none */
export async function openTraceExport(
  env: Readonly<Record<string, string | undefined>>,
  { describe }: Pick<KindRegistry, 'describe'>,
  log: Log,
): Promise<TraceExport | undefined> {
  if (Object.keys(env).every((name) => !/^OTEL_EXPORTER_OTLP_(TRACES_)?ENDPOINT$/.test(name)))
    return undefined;
  const { createOtlpExporter, readOtlpSettings, spansFromAgentTrace } = await import('@podwire/tracing');
  const settings = readOtlpSettings(env);
  if (settings === undefined) return undefined;
  log.info({ endpoint: settings.endpoint }, 'traces are exported');
  const exporter = await createOtlpExporter({
    ...settings,
    onFailure: (reason) => log.warn({ reason }, 'traces could not be exported'),
  });
  return {
    // Requests that are part of no trace (STATUS of a runtime that has none) give no spans.
    add: (trace) => {
      for (const span of spansFromAgentTrace(trace, undefined, describe)) exporter.add(span);
    },
    close: () => exporter.close(),
  };
}
