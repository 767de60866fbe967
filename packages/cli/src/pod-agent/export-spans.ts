/** Traces to an OpenTelemetry collector, where the environment names one. */
import { createOtlpExporter, type OtlpExporter, readOtlpSettings } from '@podwire/tracing';
import type { Log } from '@podwire/platform';

export async function openExporter(
  env: Readonly<Record<string, string | undefined>>,
  log: Log,
): Promise<OtlpExporter | undefined> {
  const settings = readOtlpSettings(env);
  if (settings === undefined) return undefined;
  log.info({ endpoint: settings.endpoint }, 'traces are exported');
  return createOtlpExporter({
    ...settings,
    onFailure: (reason) => log.warn({ reason }, 'traces could not be exported'),
  });
}
