import http, { type RequestListener } from 'node:http';
import https from 'node:https';
import net, { type AddressInfo, type Server } from 'node:net';
import { afterAll } from 'vitest';

export interface Listening {
  readonly port: number;
}

/** Starts servers on loopback that are closed after the tests of the file. */
export function loopbackServers() {
  const servers: Server[] = [];
  const sockets = new Set<net.Socket>();
  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  });
  const listen = async (server: Server, host: string): Promise<Listening> => {
    servers.push(server);
    server.on('connection', (socket: net.Socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('close', () => sockets.delete(socket));
    });
    await new Promise<void>((resolve) => server.listen(0, host, resolve));
    return { port: (server.address() as AddressInfo).port };
  };
  return {
    http: (listener: RequestListener, host = '127.0.0.1') => listen(http.createServer(listener), host),
    https: (listener: RequestListener, identity: { key: string; cert: string }) =>
      listen(https.createServer(identity, listener), '127.0.0.1'),
    tcp: (onSocket: (socket: net.Socket) => void = () => undefined, host = '127.0.0.1') =>
      listen(net.createServer(onSocket), host),
  };
}

/** A port of loopback without a listener. */
export async function closedPort(): Promise<number> {
  const server = net.createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
