/** The server of OpenShift SDN's CNI plugin. */
import type http from 'node:http';
import type { Socket } from 'node:net';
import path from 'node:path';
import type { PeerCredentials } from '@podwire/linux';
import { createPluginServer, listenDurably, stopServers } from '@podwire/local-api';
import { clearDirectory, removeNodeConfig, writeNodeConfig } from './directory.js';
import { type NodeConfig, socketName } from './files.js';
import { serveRequest, type ServeOptions } from './serve.js';

export interface OpenshiftCniServerOptions extends ServeOptions {
  /** `runDirectory`, unless it is a test. */
  readonly directory: string;
  readonly maxConnections: number;
  readonly peerCredentials: (socket: Socket) => PeerCredentials | undefined;
}

export interface OpenshiftCniServer {
  /**
   * Writes config.json, in place of an earlier one: plugins ask from then on.
   * @throws PodwireError CONFIG_INVALID when it cannot be written
   */
  publish(config: NodeConfig): void;
  /** Takes no new connection, and resolves when the open ones are answered or the time (milliseconds) is over. */
  stop(deadline: number): Promise<void>;
}

/**
 * Listens in a directory of mode 0700, on a socket of mode 0600. A config.json of an earlier life is removed: without it a plugin
 * says that the node is not ready.
 * @throws PodwireError AGENT_RUNNING when another process listens there, CONFIG_INVALID when the place is not safe or usable
 */
export async function startOpenshiftCniServer(
  options: OpenshiftCniServerOptions,
): Promise<OpenshiftCniServer> {
  const { directory, log } = options;
  const file = path.join(directory, socketName);
  clearDirectory(directory);
  const servers: http.Server[] = [];
  const create = (): http.Server => {
    const server = createServer(options);
    servers.push(server);
    return server;
  };
  let published: NodeConfig | undefined;
  const listener = await listenDurably(create, file, (err) => {
    if (err !== undefined)
      log.error({ socket: file, err }, 'the socket was deleted, and could not be made again yet');
    else rewriteConfig(options, published, file);
  });
  removeConfig(options);
  return {
    publish(config) {
      writeNodeConfig(directory, config);
      published = config;
    },
    stop(deadline) {
      published = undefined;
      removeConfig(options);
      return stopServers(servers, () => listener.close(), deadline);
    },
  };
}

function removeConfig({ directory, log }: OpenshiftCniServerOptions): void {
  try {
    removeNodeConfig(directory);
  } catch (err) {
    log.warn({ err }, 'the configuration for the plugin could not be removed');
  }
}

function rewriteConfig(
  { directory, log }: OpenshiftCniServerOptions,
  config: NodeConfig | undefined,
  socket: string,
): void {
  try {
    if (config !== undefined) writeNodeConfig(directory, config);
    log.warn({ socket }, 'the socket was deleted, and is there again');
  } catch (err) {
    log.error({ err }, 'the configuration for the plugin could not be written');
  }
}

function createServer(options: OpenshiftCniServerOptions): http.Server {
  const { log, maxConnections, peerCredentials } = options;
  const serve = (request: http.IncomingMessage, response: http.ServerResponse): Promise<void> =>
    serveRequest(options, request, response);
  return createPluginServer({ log, maxConnections, peerCredentials, serve });
}
