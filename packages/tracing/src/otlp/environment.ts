/** The variables of the OpenTelemetry specification ("OpenTelemetry Protocol Exporter") that switch the export on. */
import { compact } from '@podwire/platform';

export interface OtlpSettings {
  /** The URL that traces are posted to, path included. */
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly serviceName?: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Undefined without an endpoint. A malformed endpoint is an error: it was set to see traces.
 * @throws TypeError naming the variable
 */
export function readOtlpSettings(env: Environment): OtlpSettings | undefined {
  if (env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true') return undefined;
  const endpoint = endpointOf(env);
  if (endpoint === undefined) return undefined;
  const serviceName = nonEmpty(env['OTEL_SERVICE_NAME']);
  const headers = {
    ...parseHeaders(env, 'OTEL_EXPORTER_OTLP_HEADERS'),
    ...parseHeaders(env, 'OTEL_EXPORTER_OTLP_TRACES_HEADERS'),
  };
  return { endpoint, headers, ...compact({ serviceName }) };
}

/** The general endpoint gets `v1/traces` appended; the one for traces is taken as it is. */
function endpointOf(env: Environment): string | undefined {
  const own = nonEmpty(env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT']);
  if (own !== undefined) return checkUrl('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', own).href;
  const general = nonEmpty(env['OTEL_EXPORTER_OTLP_ENDPOINT']);
  if (general === undefined) return undefined;
  const url = checkUrl('OTEL_EXPORTER_OTLP_ENDPOINT', general);
  url.pathname = `${url.pathname.replace(/\/$/, '')}/v1/traces`;
  return url.href;
}

function checkUrl(variable: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  throw new TypeError(`${variable} must be an http or https URL, is ${JSON.stringify(text)}`);
}

/** `key=value,key2=value2` with percent escapes, as W3C Baggage has it. */
function parseHeaders(env: Environment, variable: string): Record<string, string> {
  const pairs = (env[variable] ?? '').split(',').filter((pair) => pair.trim() !== '');
  return Object.fromEntries(
    pairs.map((pair) => {
      const [key = '', ...value] = pair.split('=');
      if (key.trim() === '' || value.length === 0)
        // The value may be a secret, so it is not repeated.
        throw new TypeError(`${variable} must be KEY=VALUE pairs with commas between them`);
      return [key.trim(), unescape(variable, value.join('=').trim())];
    }),
  );
}

function unescape(variable: string, text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new TypeError(`${variable} has a broken percent escape`);
  }
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === undefined || text.trim() === '' ? undefined : text.trim();
}
