import net from 'node:net';
import { onAbort } from '@podwire/platform';

/** Connects and hangs up. @throws whatever kept the connection from being made */
export function tcpConnect(host: string, port: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const socket = net.connect({ host, port });
    const unsubscribe = onAbort(signal, (reason) => {
      socket.destroy();
      reject(reason);
    });
    socket.once('connect', () => {
      socket.destroy();
      resolve();
    });
    socket.once('error', reject);
    socket.once('close', unsubscribe);
  });
}
