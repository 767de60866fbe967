import { UpgradeRefusedError } from './dial.js';

/**
 * Where to stream: what Exec, Attach or PortForward of the CRI answered with, or a function that asks for it. Most servers use up
 * the URL also when they refuse, so only a function gives a second protocol a real chance with them.
 */
export type StreamTarget = string | (() => Promise<string>);

export type Transport = 'websocket' | 'spdy';

/** Tries one way after the other, going on only where the server refuses the upgrade. */
export async function dialFirst<T>(
  target: StreamTarget,
  order: readonly Transport[],
  dial: (transport: Transport, url: string) => Promise<T>,
): Promise<T> {
  let refused: unknown;
  for (const transport of order) {
    try {
      return await dial(transport, typeof target === 'string' ? target : await target());
    } catch (error) {
      if (!(error instanceof UpgradeRefusedError)) throw error;
      // The second refusal of a URL that the first one used up says nothing.
      refused ??= error;
    }
  }
  throw refused;
}
