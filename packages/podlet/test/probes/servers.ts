import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import http, { type RequestListener } from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import net, { type AddressInfo, type Server } from 'node:net';
import path from 'node:path';
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
    /** HTTP/2 over TLS, and nothing else. */
    http2: (
      listener: (request: http2.Http2ServerRequest, response: http2.Http2ServerResponse) => void,
      identity: { key: string; cert: string },
    ) => listen(http2.createSecureServer({ ...identity, allowHTTP1: false }, listener), '127.0.0.1'),
    /** HTTP/2 without TLS, as servers of gRPC speak it. */
    plainHttp2: (onStream: (stream: http2.ServerHttp2Stream) => void) =>
      listen(http2.createServer().on('stream', onStream), '127.0.0.1'),
    tcp: (onSocket: (socket: net.Socket) => void = () => undefined, host = '127.0.0.1') =>
      listen(net.createServer(onSocket), host),
  };
}

/** A key and a certificate for it that no authority has signed. */
export function makeIdentity(directory: string): { readonly key: string; readonly cert: string } {
  const [key, cert] = [path.join(directory, 'key'), path.join(directory, 'cert')] as const;
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  const make = ['req', '-x509', ...kind, '-subj', '/CN=other', '-days', '1'];
  execFileSync('openssl', [...make, '-keyout', key, '-out', cert], { stdio: 'ignore' });
  return { key: fs.readFileSync(key, 'utf8'), cert: fs.readFileSync(cert, 'utf8') };
}

/** State 06 of Linux' enum in net/tcp_states.h. */
const timeWait = '06';

/** Connections to a port of 127.0.0.1 that this side has ended first, and keeps for a minute. */
export const countTimeWaits = (port: number): number =>
  statesOfConnections(port).filter((state) => state === timeWait).length;

/** Connections to a port of 127.0.0.1 that are neither over nor in TIME_WAIT. */
export const countConnections = (port: number): number =>
  statesOfConnections(port).filter((state) => state !== timeWait).length;

/** proc(5), /proc/net/tcp: columns 3 and 4 are the remote end and the state. */
function statesOfConnections(port: number): string[] {
  const lines = fs.readFileSync('/proc/net/tcp', 'utf8').trim().split('\n').slice(1);
  const ends = lines.map((line) => line.trim().split(/\s+/).slice(2, 4) as [string, string]);
  return ends
    .filter(([remote]) => Number.parseInt(remote.split(':')[1]!, 16) === port)
    .map(([, state]) => state);
}

/** A port of loopback without a listener. */
export async function closedPort(): Promise<number> {
  const server = net.createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
