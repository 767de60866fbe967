/** Sockets of this process that were opened in a namespace of the testbed. */
import net from 'node:net';
import { familyOf } from '@podwire/addresses';
import { openStreamSocket } from '@podwire/linux';
import type { TestbedNamespace } from './namespaces.js';

/** A socket that connects from inside; see `net.connect`. */
export function connectFrom(
  namespace: TestbedNamespace,
  host: string,
  port: number,
  options: { readonly allowHalfOpen?: boolean } = {},
): net.Socket {
  const fd = namespace.inside(() => openStreamSocket(familyOf(host)));
  return new net.Socket({ fd, ...options }).connect({ host, port });
}

/** Forwards a port of this machine's loopback to a server inside, as long as this process lives. */
export interface Door {
  readonly port: number;
  close(): Promise<void>;
}

export async function openDoor(namespace: TestbedNamespace, host: string, port: number): Promise<Door> {
  const sockets = new Set<net.Socket>();
  const server = net.createServer((outer) => {
    const inner = connectFrom(namespace, host, port);
    for (const [from, to] of [
      [outer, inner],
      [inner, outer],
    ] as const) {
      sockets.add(from);
      from.on('error', () => undefined).once('close', () => (sockets.delete(from), to.destroy()));
      from.pipe(to);
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen({ host: '127.0.0.1', port: 0 }, resolve);
  });
  server.unref();
  return {
    port: (server.address() as net.AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
