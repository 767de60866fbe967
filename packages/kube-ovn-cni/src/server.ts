/** The server of Kube-OVN's CNI plugin. */
import type http from 'node:http';
import type { Socket } from 'node:net';
import type { PeerCredentials } from '@podwire/linux';
import { createPluginServer, listenDurably, stopServers } from '@podwire/local-api';
import { serveRequest, type ServeOptions } from './serve.js';

export interface KubeOvnCniOptions extends Omit<ServeOptions, 'isStopping'> {
  /** `defaultSocket`, unless a configuration says otherwise. */
  readonly socketPath: string;
  readonly maxConnections: number;
  readonly peerCredentials: (socket: Socket) => PeerCredentials | undefined;
}

export interface KubeOvnCniServer {
  /** Takes no new connection, and resolves when the open ones are answered or the time (milliseconds) is over. */
  stop(deadline: number): Promise<void>;
}

/**
 * Listens on a socket of mode 0600, and makes it again when it is deleted. Its directory is shared with Open vSwitch;
 * it must be one that no other user can write, and is made with mode 0700 where it is missing.
 * @throws PodwireError AGENT_RUNNING when another process listens there, CONFIG_INVALID when the place is not safe
 */
export async function serveKubeOvnCni(options: KubeOvnCniOptions): Promise<KubeOvnCniServer> {
  const { socketPath, log } = options;
  const servers: http.Server[] = [];
  let hasStopped = false;
  const create = (): http.Server => {
    const server = createServer({ ...options, isStopping: () => hasStopped });
    servers.push(server);
    return server;
  };
  const listener = await listenDurably(create, socketPath, (err) => {
    const fields = { socket: socketPath, err };
    if (err === undefined) log.warn({ socket: socketPath }, 'the socket was deleted, and is there again');
    else log.error(fields, 'the socket was deleted, and could not be made again yet');
  });
  return {
    stop(deadline) {
      hasStopped = true;
      return stopServers(servers, () => listener.close(), deadline);
    },
  };
}

function createServer(options: KubeOvnCniOptions & ServeOptions): http.Server {
  const { log, maxConnections, peerCredentials } = options;
  const serve = (request: http.IncomingMessage, response: http.ServerResponse): Promise<void> =>
    serveRequest(options, request, response);
  return createPluginServer({ log, maxConnections, peerCredentials, serve });
}
