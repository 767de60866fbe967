/** A connection to localhost inside a sandbox, made by this process itself: no socat, no nsenter. */
import { once } from 'node:events';
import net from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { CriError } from '@podwire/cri';
import { hasCode, inNamespace, openNamespace, socket } from '@podwire/linux';
import type { SandboxContext } from '../context.js';
import { pinnedNetns } from '../sandboxes/netns.js';
import { inspectSandbox } from '../sandboxes/status.js';

/** Joins `stream` to the port until either end is done. @throws CriError NOT_FOUND, FAILED_PRECONDITION, UNAVAILABLE */
export async function forwardPort(
  context: SandboxContext,
  sandboxId: string,
  port: number,
  stream: Readable & Writable,
  signal: AbortSignal,
): Promise<void> {
  const { Id, State, HostConfig } = await inspectSandbox(context, sandboxId, signal);
  if (!State.Running) throw new CriError('FAILED_PRECONDITION', `the sandbox ${sandboxId} is not running`);
  const isOnHost = HostConfig.NetworkMode === 'host';
  const netns = isOnHost ? `/proc/${State.Pid}/ns/net` : pinnedNetns(context, Id);
  if (netns === undefined)
    throw new CriError('FAILED_PRECONDITION', `the sandbox ${sandboxId} has no network`);
  const connection = await connectAny(netns, port, signal);
  const abort = (): void => void connection.destroy();
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  try {
    await joinBoth(stream, connection);
  } catch (error) {
    if (!signal.aborted && !isEnd(error)) throw unavailable(error, port);
  } finally {
    signal.removeEventListener('abort', abort);
    connection.destroy();
  }
}

/** Each way ends by itself: a client that has said all may still be listening. */
async function joinBoth(stream: Readable & Writable, connection: net.Socket): Promise<void> {
  await Promise.all([pipeline(stream, connection), pipeline(connection, stream)]);
}

const isEnd = (error: unknown): boolean =>
  hasCode(error, 'ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'EPIPE');

function unavailable(error: unknown, port: number): Error {
  const code = hasCode(error, 'ECONNREFUSED') ? 'nobody listens' : String(error);
  return new CriError('UNAVAILABLE', `port ${port} of the sandbox: ${code}`, { cause: error });
}

const AF_INET = 2;
const AF_INET6 = 10;
const SOCK_STREAM = 1;
const SOCK_NONBLOCK = 0o4000;
const SOCK_CLOEXEC = 0o2000000;

/** `localhost` of a pod is either of these, in the order of dockershim's socat; a server may listen on one only. */
const hosts = [
  [AF_INET, '127.0.0.1'],
  [AF_INET6, '::1'],
] as const;

async function connectAny(netns: string, port: number, signal: AbortSignal): Promise<net.Socket> {
  let refusal: unknown;
  for (const [family, host] of hosts) {
    try {
      return await connectInside(netns, family, { host, port, signal });
    } catch (error) {
      signal.throwIfAborted();
      if (!hasCode(error, 'ECONNREFUSED', 'EADDRNOTAVAIL', 'ENETUNREACH', 'EAFNOSUPPORT')) {
        throw unavailable(error, port);
      }
      // Where nobody listens, that there is no IPv6 either is of interest to nobody.
      refusal ??= error;
    }
  }
  throw unavailable(refusal, port);
}

interface Target {
  readonly host: string;
  readonly port: number;
  readonly signal: AbortSignal;
}

/** Node connects in a later turn, when the thread is elsewhere; but a socket stays in the namespace in which it was made. */
async function connectInside(netns: string, family: number, target: Target): Promise<net.Socket> {
  const { host, port, signal } = target;
  const fd = socketInside(netns, family);
  // Paused, for a socket of a given descriptor would begin to read before it is connected (the types do not know the option).
  const options = { fd, readable: true, writable: true, allowHalfOpen: true, pauseOnCreate: true };
  const connection = new net.Socket(options);
  // A listener whose queue is full lets it wait for minutes.
  const abort = (): void => void connection.destroy(new Error('given up'));
  signal.addEventListener('abort', abort, { once: true });
  try {
    const connected = once(connection, 'connect');
    connection.connect({ host, port });
    await connected;
    return connection;
  } catch (error) {
    connection.destroy();
    throw error;
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

function socketInside(netns: string, family: number): number {
  const namespace = openNamespace(netns);
  try {
    return inNamespace(namespace, () => socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  } finally {
    namespace.close();
  }
}
