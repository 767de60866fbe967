/** The TCP connections of probes and hooks. */
import net, { type Socket } from 'node:net';
import { onAbort } from '@podwire/platform';

/** @throws whatever kept the connection from being made; the signal's reason */
export function connect(host: string, port: number, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const socket = net.connect({ host, port });
    const unsubscribe = onAbort(signal, (reason) => {
      socket.destroy();
      reject(reason);
    });
    socket.once('error', reject);
    socket.once('connect', () => {
      unsubscribe();
      socket.off('error', reject);
      resolve(socket);
    });
    socket.once('close', unsubscribe);
  });
}

/**
 * Ends a connection at once, with a reset unless the other side has ended it already. The side that ends first keeps the
 * connection in TIME_WAIT for a minute, with its port and its entry in conntrack: 60 for each probe that comes every second
 * (kubernetes/kubernetes #89898; the kubelet has cut that short since 1.27).
 */
export function hangUp(socket: Socket): void {
  // The reset that an error of the other side answers has no reader any more.
  socket.on('error', () => undefined);
  if (socket.readableEnded) socket.destroy();
  else socket.resetAndDestroy();
}

/** Milliseconds, as the kubelet's sockets linger. */
const patience = 1_000;

/**
 * Leaves the end to a server that was asked to close after its answer: a reset that comes before would be an error in its log.
 * @param stream the connection, or TLS on it
 */
export function leaveEndToServer(socket: Socket, stream: Socket): void {
  const end = (): void => hangUp(socket);
  const timer = setTimeout(end, patience);
  socket.once('close', () => clearTimeout(timer));
  stream.on('error', end);
  stream.once('end', end);
  // Whatever comes behind the answer, or behind the part of it that is read, might never end.
  stream.once('data', end);
  stream.resume();
}

/** Connects and hangs up. @throws as {@link connect} */
export async function tcpConnect(host: string, port: number, signal: AbortSignal): Promise<void> {
  hangUp(await connect(host, port, signal));
}
