/** A connection to localhost inside a sandbox, made by this process itself: no socat, no nsenter. */
import net from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { CriError } from '@podwire/cri';
import { connect, hasCode, inNamespace, openNamespace, socket } from '@podwire/linux';
import fs from 'node:fs';
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
  const connection = connectInside(netns, port);
  const abort = (): void => void connection.destroy();
  signal.addEventListener('abort', abort, { once: true });
  try {
    await joinBoth(stream, connection);
  } catch (error) {
    if (!signal.aborted && !isEnd(error)) throw describe(error, port);
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

function describe(error: unknown, port: number): Error {
  const code = hasCode(error, 'ECONNREFUSED') ? 'nobody listens' : String(error);
  return new CriError('UNAVAILABLE', `port ${port} of the sandbox: ${code}`, { cause: error });
}

const AF_INET = 2;
const AF_INET6 = 10;
const SOCK_STREAM = 1;
const SOCK_NONBLOCK = 0o4000;
const SOCK_CLOEXEC = 0o2000000;

/**
 * Node connects in a later turn, when the thread is elsewhere. So the socket is made and connected here, without waiting, and
 * Node gets it afterwards: a socket stays in the namespace in which it was made. 127.0.0.1 first, then ::1, as dockershim's socat.
 */
function connectInside(netns: string, port: number): net.Socket {
  const namespace = openNamespace(netns);
  try {
    const fd = inNamespace(namespace, () => connectOne(AF_INET, port) ?? connectOne(AF_INET6, port));
    if (fd === undefined) throw new CriError('UNAVAILABLE', `port ${port} of the sandbox: nobody listens`);
    return new net.Socket({ fd, allowHalfOpen: true, readable: true, writable: true });
  } finally {
    namespace.close();
  }
}

/** A connection to loopback is refused at once or made at once; in between only where the listener's queue is full. */
function connectOne(family: number, port: number): number | undefined {
  let fd: number;
  try {
    fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  } catch (error) {
    if (hasCode(error, 'EAFNOSUPPORT')) return undefined;
    throw error;
  }
  try {
    connect(fd, family === AF_INET ? loopback4(port) : loopback6(port));
    return fd;
  } catch (error) {
    if (hasCode(error, 'EINPROGRESS')) return fd;
    fs.closeSync(fd);
    if (hasCode(error, 'ECONNREFUSED', 'EADDRNOTAVAIL', 'ENETUNREACH')) return undefined;
    throw error;
  }
}

/** struct sockaddr_in: family in the machine's order, port in the network's. */
function loopback4(port: number): Uint8Array {
  const address = Buffer.alloc(16);
  address.writeUInt16LE(AF_INET, 0);
  address.writeUInt16BE(port, 2);
  address.set([127, 0, 0, 1], 4);
  return address;
}

/** struct sockaddr_in6. */
function loopback6(port: number): Uint8Array {
  const address = Buffer.alloc(28);
  address.writeUInt16LE(AF_INET6, 0);
  address.writeUInt16BE(port, 2);
  address[23] = 1;
  return address;
}
