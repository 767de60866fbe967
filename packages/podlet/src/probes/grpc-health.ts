/** The health service of gRPC (grpc.health.v1, GRPC Health Checking Protocol). Its two messages have one field each. */
import type { Client, ClientUnaryCall } from '@grpc/grpc-js';
import net from 'node:net';
import { onAbort } from '@podwire/platform';
import { agentName } from './http-get.js';

const names = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'] as const;
export type HealthStatus = (typeof names)[number];

export interface HealthTarget {
  readonly host: string;
  readonly port: number;
  /** Empty: the server as a whole. */
  readonly service: string;
}

/** @throws whatever kept the answer from coming, with the words of the server */
export async function checkHealth(target: HealthTarget, signal: AbortSignal): Promise<HealthStatus> {
  const { Client, credentials } = await import('@grpc/grpc-js');
  const client = new Client(addressOf(target), credentials.createInsecure(), {
    // The node's proxy is no way into a pod; and what one probe found out is no business of the next.
    'grpc.enable_http_proxy': 0,
    'grpc.use_local_subchannel_pool': 1,
    'grpc.primary_user_agent': agentName,
  });
  try {
    return decodeStatus(await call(client, target.service, signal));
  } finally {
    client.close();
  }
}

function addressOf({ host, port }: HealthTarget): string {
  const family = net.isIP(host);
  if (family === 0) return `dns:${host}:${port}`;
  return family === 4 ? `ipv4:${host}:${port}` : `ipv6:[${host}]:${port}`;
}

function call(client: Client, service: string, signal: AbortSignal): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const running: ClientUnaryCall = client.makeUnaryRequest<string, Buffer>(
      '/grpc.health.v1.Health/Check',
      encodeRequest,
      (bytes) => bytes,
      service,
      (error, answer) => {
        unsubscribe();
        if (error !== null) reject(error);
        else resolve(answer ?? Buffer.alloc(0));
      },
    );
    const unsubscribe = onAbort(signal, () => running.cancel());
  });
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
