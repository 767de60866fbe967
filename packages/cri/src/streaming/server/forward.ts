import type { Duplex } from 'node:stream';
import type { StreamingHandlers } from '../handlers.js';

/** Joins a stream to a port. @returns what went wrong, for the client to read */
export type Forward = (port: number, stream: Duplex, signal: AbortSignal) => Promise<string | undefined>;

export function createForward(
  handlers: StreamingHandlers,
  sandboxId: string,
  stopping: AbortSignal,
  report: (error: unknown) => void,
): Forward {
  return async (port, stream, signal) => {
    try {
      await handlers.portForward(sandboxId, port, stream, AbortSignal.any([signal, stopping]));
      return undefined;
    } catch (error) {
      if (!signal.aborted) report(error);
      return `cannot forward to port ${port} of sandbox ${sandboxId}: ${(error as Error).message}`;
    }
  };
}
