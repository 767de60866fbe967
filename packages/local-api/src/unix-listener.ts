/** Listening on a unix socket that is ours alone, with the errors of the agents. */
import { describeError, PodwireError } from '@podwire/errors';
import { listenOnPrivateSocket, SocketInUseError, type SocketListener } from '@podwire/linux';

/**
 * Listens on `file` (mode 0600, in a directory that is made with mode 0700 if it is missing). A socket that a dead agent
 * left is replaced.
 * @throws PodwireError AGENT_RUNNING when another process listens there, CONFIG_INVALID when the path is not safe or not usable
 */
export async function listenPrivately(server: SocketListener, file: string): Promise<void> {
  try {
    await listenOnPrivateSocket(server, file);
  } catch (cause) {
    const details = { socket: file };
    if (cause instanceof SocketInUseError)
      throw new PodwireError('AGENT_RUNNING', cause.message, { details });
    throw new PodwireError('CONFIG_INVALID', `cannot listen on ${file}: ${describeError(cause)}`, {
      cause,
      details,
    });
  }
}
