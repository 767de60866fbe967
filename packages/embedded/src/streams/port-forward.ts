import net from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { CriError } from '@podwire/cri';
import { inNamespace, openNamespace, socket } from '@podwire/linux';
import type { Context } from '../context.js';
import { isReady, needSandbox, type SandboxEntry } from '../state/inventory.js';

const AF_INET = 2;
const AF_INET6 = 10;
const SOCK_STREAM = 1;
const SOCK_CLOEXEC = 0o2000000;
const SOCK_NONBLOCK = 0o4000;

/** `localhost` of a pod is either of these; a server may listen on one only. */
const hosts = [
  [AF_INET, '127.0.0.1'],
  [AF_INET6, '::1'],
] as const;

/**
 * Joins the stream to a port on localhost of the sandbox, until either end is done.
 * @throws CriError NOT_FOUND, FAILED_PRECONDITION, UNAVAILABLE when nobody listens
 */
export async function forwardPort(
  context: Context,
  sandboxId: string,
  port: number,
  stream: Readable & Writable,
  signal: AbortSignal,
): Promise<void> {
  const entry = needSandbox(context.inventory, sandboxId);
  if (!isReady(entry)) throw new CriError('FAILED_PRECONDITION', `sandbox ${entry.record.id} is not ready`);
  const connection = await connectAny(entry, port);
  try {
    await Promise.all([
      pipeline(stream, connection, { signal }),
      pipeline(connection, stream, { signal, end: true }),
    ]);
  } finally {
    connection.destroy();
  }
}

async function connectAny({ record }: SandboxEntry, port: number): Promise<net.Socket> {
  let last: unknown;
  for (const [family, host] of hosts) {
    try {
      return await connectInside(record.netns, family, host, port);
    } catch (error) {
      last = error;
    }
  }
  throw new CriError('UNAVAILABLE', `port ${port} of sandbox ${record.id}: ${String(last)}`, { cause: last });
}

/** A socket belongs for ever to the namespace that it was made in; so only that happens inside, and synchronously. */
function socketInside(netns: string | undefined, family: number): number {
  const make = (): number => socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (netns === undefined) return make();
  const namespace = openNamespace(netns);
  try {
    return inNamespace(namespace, make);
  } finally {
    namespace.close();
  }
}

async function connectInside(
  netns: string | undefined,
  family: number,
  host: string,
  port: number,
): Promise<net.Socket> {
  const fd = socketInside(netns, family);
  // Paused, for a socket of a given descriptor would begin to read before it is connected (the types do not know the option).
  const options = { fd, readable: true, writable: true, allowHalfOpen: true, pauseOnCreate: true };
  const connection = new net.Socket(options);
  return new Promise((resolve, reject) => {
    connection.once('error', reject);
    connection.connect({ host, port }, () => {
      connection.off('error', reject);
      resolve(connection);
    });
  });
}
