/** The socket that a CRI server listens on: for its own user and root only, and never pushing a live server aside. */
import type net from 'node:net';
import type { Socket } from 'node:net';
import { CriError } from '../error.js';

/**
 * Listens on `file` with mode 0600; a directory that is missing is made with mode 0700. What a dead server left is replaced.
 * @returns whether a client may be served
 * @throws CriError ALREADY_EXISTS when another server listens there, FAILED_PRECONDITION when the place cannot be used
 */
export async function listenOn(server: net.Server, file: string): Promise<(client: Socket) => boolean> {
  // Loaded here: clients of the interface need no foreign functions.
  const { listenOnPrivateSocket, peerCredentials, SocketInUseError } = await import('@podwire/linux');
  try {
    await listenOnPrivateSocket(server, file);
  } catch (cause) {
    if (cause instanceof SocketInUseError)
      throw new CriError('ALREADY_EXISTS', `another server listens on ${file}`, { cause });
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new CriError('FAILED_PRECONDITION', `cannot listen on ${file}: ${why}`, { cause });
  }
  return (client) => {
    const uid = peerCredentials(client)?.uid;
    return uid === 0 || (uid !== undefined && uid === process.getuid?.());
  };
}
