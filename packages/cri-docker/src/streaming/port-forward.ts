/** A connection to localhost inside a sandbox, made by this process itself: no socat, no nsenter. */
import type { Readable, Writable } from 'node:stream';
import { CriError } from '@podwire/cri';
import { connectLocalhost, hasCode } from '@podwire/linux';
import { joinConnection } from '@podwire/platform';
import type { SandboxContext } from '../context.js';
import { pinnedNetns } from '../sandboxes/netns.js';
import { inspectSandbox } from '../containers/lookup.js';

/** Joins `stream` to the port until the server behind it is done. @throws CriError NOT_FOUND, FAILED_PRECONDITION, UNAVAILABLE */
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
  await joinConnection(stream, connection, signal).catch((error: unknown) => {
    signal.throwIfAborted();
    throw unavailable(error, port);
  });
}

function unavailable(error: unknown, port: number): Error {
  const code = hasCode(error, 'ECONNREFUSED') ? 'nothing listens' : String(error);
  return new CriError('UNAVAILABLE', `port ${port} of the sandbox: ${code}`, { cause: error });
}
