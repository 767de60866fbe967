import type { Duplex } from 'node:stream';
import type { StreamingHandlers } from '../handlers.js';
import { withController } from './signals.js';

/**
 * Joins a stream to a port. `client` tells that its client is gone; a stream that is reset is over by itself.
 * @returns what went wrong, for the client to read
 */
export type Forward = (port: number, stream: Duplex, client: AbortSignal) => Promise<string | undefined>;

export function createForward(
  handlers: StreamingHandlers,
  sandboxId: string,
  stopping: AbortSignal,
  report: (error: unknown) => void,
): Forward {
  return (port, stream, client) =>
    withController([client, stopping], async (controller) => {
      const { signal } = controller;
      // The client will not read what the port still says.
      stream.once('reset', (reason) => controller.abort(reason));
      try {
        await handlers.portForward(sandboxId, port, stream, signal);
        return undefined;
      } catch (error) {
        if (!signal.aborted) report(error);
        return `cannot forward to port ${port} of sandbox ${sandboxId}: ${(error as Error).message}`;
      }
    });
}
