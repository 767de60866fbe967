/** The health service of gRPC (grpc.health.v1, GRPC Health Checking Protocol). Its two messages have one field each. */
import { bracketHost } from '@podwire/addresses';
import { onAbort } from '@podwire/platform';
import { connect, hangUp } from './connection.js';
import { type Http2Answer, requestOverHttp2 } from './http2.js';
import { agentName } from './http-get.js';

const names = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'] as const;
export type HealthStatus = (typeof names)[number];

export interface HealthTarget {
  readonly host: string;
  readonly port: number;
  /** Empty: the server as a whole. */
  readonly service: string;
}

/**
 * Asks over a connection of its own: what one probe found out must not answer the next.
 * @throws whatever kept the answer from coming, with the words of the server
 */
export async function checkHealth(
  { host, port, service }: HealthTarget,
  signal: AbortSignal,
): Promise<HealthStatus> {
  const socket = await connect(host, port, signal);
  const unsubscribe = onAbort(signal, () => hangUp(socket));
  const request = {
    authority: `http://${bracketHost(host)}:${port}`,
    headers: requestHeaders,
    body: frame(encodeRequest(service)),
  };
  try {
    return await requestOverHttp2(socket, request, readStatus);
  } finally {
    unsubscribe();
    hangUp(socket);
  }
}

const requestHeaders = {
  ':method': 'POST',
  ':path': '/grpc.health.v1.Health/Check',
  'content-type': 'application/grpc',
  'user-agent': agentName,
  te: 'trailers',
};

const mostAnswerBytes = 10 * 1024;

/** gRPC over HTTP/2: the outcome follows the body, or is in the head where there is no body. */
async function readStatus(answer: Http2Answer): Promise<HealthStatus> {
  const { ':status': status } = answer.headers;
  if (status !== 200) throw new Error(`HTTP status ${status}`);
  requireOk(answer.headers);
  const body = await answer.readBody(mostAnswerBytes);
  requireOk(answer.trailers());
  return decodeStatus(unframe(body));
}

/** Names of the codes from 0 on (gRPC, status codes and their use). */
const codes = [
  ...['OK', 'CANCELLED', 'UNKNOWN', 'INVALID_ARGUMENT', 'DEADLINE_EXCEEDED', 'NOT_FOUND', 'ALREADY_EXISTS'],
  ...['PERMISSION_DENIED', 'RESOURCE_EXHAUSTED', 'FAILED_PRECONDITION', 'ABORTED', 'OUT_OF_RANGE'],
  ...['UNIMPLEMENTED', 'INTERNAL', 'UNAVAILABLE', 'DATA_LOSS', 'UNAUTHENTICATED'],
];

function requireOk(fields: Http2Answer['headers']): void {
  const code = fields['grpc-status'];
  if (code === undefined || Number(code) === 0) return;
  const message = String(fields['grpc-message'] ?? '').slice(0, 1024);
  throw new Error(`${codes[Number(code)] ?? `gRPC status ${String(code)}`}: ${decodeMessage(message)}`);
}

/** Percent-encoded; what is not is shown as it came. */
function decodeMessage(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A message, not compressed, with its length before it. */
function frame(message: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

function unframe(body: Buffer): Buffer {
  if (body.length === 0) return body;
  if (body.length < 5 || body[0] !== 0 || body.readUInt32BE(1) > body.length - 5)
    throw new Error('the answer is no message of gRPC without compression');
  return body.subarray(5, 5 + body.readUInt32BE(1));
}

/** `string service = 1`. */
function encodeRequest(service: string): Buffer {
  if (service === '') return Buffer.alloc(0);
  const text = Buffer.from(service);
  return Buffer.concat([Buffer.of(0x0a, ...varint(text.length)), text]);
}

function varint(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >>> 7)];
}

/** `ServingStatus status = 1`; left out, it is the first one. */
function decodeStatus(bytes: Buffer): HealthStatus {
  return (bytes[0] === 0x08 ? names[bytes[1] ?? 0] : names[0]) ?? names[0];
}
