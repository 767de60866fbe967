/** The bytes between plugin and agent (docs/decisions/0002-plugin-protocol.md). */
import { PodwireError } from '@podwire/errors';

/** Request of a plugin: the CNI part of its environment, and its standard input. */
export interface PluginRequest {
  readonly environment: readonly (readonly [name: string, value: string])[];
  readonly stdin: Uint8Array;
}

/** Limit of one request, environment and standard input together, in bytes. */
export const maxRequestBytes = 1 << 20;
/** The protocol has a dozen variables; more than this is no plugin. */
const maxPairs = 64;

const magic = Buffer.from('PW1\0', 'latin1');
const namePattern = /^(CNI_[A-Z0-9_]+|TRACEPARENT|TRACESTATE|BAGGAGE)$/;

/**
 * Reads one whole request. Standard input is a view into `bytes`.
 * @throws PodwireError REQUEST_INVALID
 */
export function decodeRequest(bytes: Buffer): PluginRequest {
  if (!bytes.subarray(0, magic.length).equals(magic)) {
    throw invalid('the connection does not begin with PW1; is this an older or another plugin?');
  }
  const environment: (readonly [string, string])[] = [];
  let at = magic.length;
  for (;;) {
    const end = bytes.indexOf(0, at);
    if (end < 0) throw invalid('the environment has no end');
    if (end === at) return { environment, stdin: bytes.subarray(end + 1) };
    if (environment.length === maxPairs) throw invalid(`more than ${maxPairs} environment variables`);
    environment.push(decodePair(bytes.toString('utf8', at, end)));
    at = end + 1;
  }
}

function decodePair(text: string): readonly [string, string] {
  const equals = text.indexOf('=');
  const name = text.slice(0, equals);
  if (equals < 0 || !namePattern.test(name)) {
    throw invalid(`unexpected environment variable ${JSON.stringify(text.slice(0, 64))}`);
  }
  return [name, text.slice(equals + 1)];
}

function invalid(message: string): PodwireError {
  return new PodwireError('REQUEST_INVALID', `plugin protocol: ${message}`);
}

/** The bytes of an answer: a status byte, then what goes to standard output. */
export function encodeAnswer(ok: boolean, body: string): Buffer {
  return Buffer.from((ok ? '0' : '1') + body, 'utf8');
}

/** The other side of the framing, for tests and for programs that speak to the agent without the executable. */
export function encodeRequest({ environment, stdin }: PluginRequest): Buffer {
  const pairs = environment.map(([name, value]) => Buffer.from(`${name}=${value}\0`, 'utf8'));
  return Buffer.concat([magic, ...pairs, Buffer.from([0]), stdin]);
}
