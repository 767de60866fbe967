import { once } from 'node:events';
import net from 'node:net';
import { type Family } from '@podwire/addresses';
import { hasCode, onAbort } from '@podwire/platform';
import { openStreamSocket } from './inet-socket.js';
import { inNamespace, openNamespace } from './namespace.js';

/** Either of these, in the order of dockershim's socat; a server may listen on one only. */
const hosts = [
  [4, '127.0.0.1'],
  [6, '::1'],
] as const;

/**
 * Connects to a port on `localhost` of a network namespace.
 * @param netns its file; absent for the own one
 * @throws the signal's reason, or the error of the connection (ECONNREFUSED)
 */
export async function connectLocalhost(
  netns: string | undefined,
  port: number,
  signal: AbortSignal,
): Promise<net.Socket> {
  let refusal: unknown;
  for (const [family, host] of hosts) {
    signal.throwIfAborted();
    try {
      return await connectInside(netns, family, { host, port }, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!hasCode(error, 'ECONNREFUSED', 'EADDRNOTAVAIL', 'ENETUNREACH', 'EAFNOSUPPORT')) throw error;
      // The first refusal counts: that the machine has no IPv6 explains nothing.
      refusal ??= error;
    }
  }
  throw refusal;
}

/** Node connects later, when the thread has left the namespace; but a socket stays in the namespace in which it was made. */
async function connectInside(
  netns: string | undefined,
  family: Family,
  target: net.TcpSocketConnectOpts,
  signal: AbortSignal,
): Promise<net.Socket> {
  const fd = socketInside(netns, family);
  // Paused, for a socket of a given descriptor would begin to read before it is connected (the types do not know the option).
  const options = { fd, readable: true, writable: true, allowHalfOpen: true, pauseOnCreate: true };
  const connection = new net.Socket(options);
  // A full accept queue can delay the connection for minutes.
  const unsubscribe = onAbort(signal, () => void connection.destroy(new Error('cancelled')));
  try {
    const connected = once(connection, 'connect');
    connection.connect(target);
    await connected;
    return connection;
  } catch (error) {
    connection.destroy();
    throw error;
  } finally {
    unsubscribe();
  }
}

function socketInside(netns: string | undefined, family: Family): number {
  if (netns === undefined) return openStreamSocket(family);
  const namespace = openNamespace(netns);
  try {
    return inNamespace(namespace, () => openStreamSocket(family));
  } finally {
    namespace.close();
  }
}
