import { once } from 'node:events';
import net from 'node:net';
import path from 'node:path';
import type { PrivateHost } from '../private-host.js';

export interface PortProxy {
  /** `http://127.0.0.1:PORT`, for this process. */
  readonly url: string;
  close(): Promise<void>;
}

const program = path.join(import.meta.dirname, 'port-proxy-program.js');
let opened = 0;

/**
 * Makes a port on the host's loopback reachable for this process, which lives in another network namespace, as plain HTTP:
 * a program inside the host speaks TLS for us. Half of it is a socket file, which has no namespace.
 */
export async function openPortProxy(
  host: PrivateHost,
  port: number,
  kind: 'tls' | 'plain',
): Promise<PortProxy> {
  opened += 1;
  const socket = path.join(host.directory, `proxy${opened}`);
  const inside = host.start([process.execPath, program, socket, String(port), kind]);
  await inside.waitForOutput(/^open$/m);
  const clients = new Set<net.Socket>();
  const server = net.createServer({ allowHalfOpen: true }, (client) => {
    const beyond = net.connect({ path: socket, allowHalfOpen: true });
    clients.add(client.on('close', () => clients.delete(client)));
    join(client, beyond);
    join(beyond, client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = async (): Promise<void> => {
    server.close();
    for (const client of clients) client.destroy();
    await inside.stop();
  };
  host.defer(close);
  return { url: `http://127.0.0.1:${(server.address() as net.AddressInfo).port}`, close };
}

function join(from: net.Socket, to: net.Socket): void {
  from.pipe(to);
  from.on('error', () => to.destroy());
  from.on('close', () => to.destroySoon());
}
