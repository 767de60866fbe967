import net from 'node:net';

/** Connects and hangs up. @throws whatever kept the connection from being made */
export function tcpConnect(host: string, port: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const socket = net.connect({ host, port });
    const stop = () => {
      socket.destroy();
      reject(signal.reason as Error);
    };
    signal.addEventListener('abort', stop, { once: true });
    socket.once('connect', () => {
      socket.destroy();
      resolve();
    });
    socket.once('error', reject);
    socket.once('close', () => signal.removeEventListener('abort', stop));
  });
}
