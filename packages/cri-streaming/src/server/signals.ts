import { setMaxListeners } from 'node:events';
import { onAbort } from '@podwire/platform';

/** A controller whose signal many calls follow at once. */
export function createSharedController(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}

/**
 * Gives work a controller of its own that is also aborted by any of the sources. Unlike `AbortSignal.any` it leaves nothing behind on
 * them: a server's own signal lives as long as the server, and follows every call.
 */
export async function withController<T>(
  sources: readonly AbortSignal[],
  work: (controller: AbortController) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const links = sources.map((source) => onAbort(source, (reason) => controller.abort(reason)));
  try {
    return await work(controller);
  } finally {
    for (const unlink of links) unlink();
  }
}
