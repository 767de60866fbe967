import type { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { CriError } from '@podwire/cri';
import { connectLocalhost } from '@podwire/linux';
import { joinConnection } from '@podwire/platform';
import type { Context } from '../context.js';
import { isReady, needSandbox, type SandboxEntry } from '../state/inventory.js';

/**
 * Joins the stream to a port on localhost of the sandbox, until the server behind it is done.
 * @throws CriError NOT_FOUND, FAILED_PRECONDITION, UNAVAILABLE when nothing listens
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
  await joinConnection(stream, await connect(entry, port, signal), signal);
}

/** @throws the signal's reason, CriError UNAVAILABLE */
async function connect({ record }: SandboxEntry, port: number, signal: AbortSignal): Promise<Socket> {
  try {
    return await connectLocalhost(record.netns, port, signal);
  } catch (cause) {
    signal.throwIfAborted();
    throw new CriError('UNAVAILABLE', `port ${port} of sandbox ${record.id}: ${String(cause)}`, { cause });
  }
}
