/** A connection to localhost inside a sandbox, made by this process itself: no socat, no nsenter. */
import type { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { CriError } from '@podwire/cri';
import { connectLocalhost, hasCode } from '@podwire/linux';
import { onAbort } from '@podwire/platform';
import type { SandboxContext } from '../context.js';
import { pinnedNetns } from '../sandboxes/netns.js';
import { inspectSandbox } from '../containers/lookup.js';

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
  const connection = await connectLocalhost(netns, port, signal).catch((error: unknown) => {
    signal.throwIfAborted();
    throw unavailable(error, port);
  });
  const unsubscribe = onAbort(signal, () => connection.destroy());
  try {
    await joinBoth(stream, connection);
  } catch (error) {
    if (!signal.aborted && !isEnd(error)) throw unavailable(error, port);
  } finally {
    unsubscribe();
    connection.destroy();
  }
}

/** Each way ends by itself: a client that has said all may still be listening. */
async function joinBoth(stream: Readable & Writable, connection: Socket): Promise<void> {
  await Promise.all([pipeline(stream, connection), pipeline(connection, stream)]);
}

const isEnd = (error: unknown): boolean =>
  hasCode(error, 'ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'EPIPE');

function unavailable(error: unknown, port: number): Error {
  const code = hasCode(error, 'ECONNREFUSED') ? 'nothing listens' : String(error);
  return new CriError('UNAVAILABLE', `port ${port} of the sandbox: ${code}`, { cause: error });
}
