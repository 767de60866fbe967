/** As much of an API server as a pod agent needs to have pods from it, listening inside a test's machine. */
import http, { type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { bind, socket } from '@podwire/linux';
import type { PrivateHost } from '@podwire/testkit';

export interface ApiServer {
  readonly url: string;
  /** Gives it the pod, bound to the node. */
  put(pod: { readonly metadata?: unknown }): void;
  /** Ends all connections; the server answers no more. */
  goAway(): void;
}

const AF_INET = 2;
const SOCK_STREAM = 1;

/** A bound socket of 127.0.0.1 in the machine: node's own listen() binds later, when the thread is elsewhere again. */
function bindInside(host: PrivateHost): number {
  const address = Buffer.from([AF_INET, 0, 0, 0, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
  return host.namespace.inside(() => {
    const made = socket(AF_INET, SOCK_STREAM, 0);
    bind(made, address);
    return made;
  });
}

export async function startApiServer(host: PrivateHost): Promise<ApiServer> {
  const pods: object[] = [];
  const watches = new Set<ServerResponse>();
  const version = (): string => String(100 + pods.length);
  const server = http.createServer((request, response) => {
    request.resume();
    const { searchParams } = new URL(request.url ?? '', 'http://api');
    if (request.method !== 'GET') return response.end('{}');
    if (searchParams.get('watch') !== 'true') {
      return response.end(JSON.stringify({ metadata: { resourceVersion: version() }, items: pods }));
    }
    response.writeHead(200).flushHeaders();
    watches.add(response);
    return response.on('close', () => watches.delete(response));
  });
  const listening = new Promise<void>((resolve, reject) => {
    server.once('listening', resolve).once('error', reject);
  });
  server.listen({ fd: bindInside(host) });
  await listening;
  const goAway = (): void => {
    server.closeAllConnections();
    server.close();
  };
  host.defer(goAway);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    put: (pod) => {
      const { metadata } = pod;
      const number = pods.length;
      const facts = {
        ...(metadata as object),
        uid: `api-uid-${number}`,
        resourceVersion: String(101 + number),
      };
      const object = { ...pod, metadata: facts };
      pods.push(object);
      for (const watch of watches) watch.write(`${JSON.stringify({ type: 'ADDED', object })}\n`);
    },
    goAway,
  };
}
