/**
 * The socket of OpenShift SDN's CNI plugin, and the files by which plugins and container runtimes learn that the node serves it, in
 * the original's order: the network configuration comes last.
 */
import fs from 'node:fs';
import type { Socket } from 'node:net';
import path from 'node:path';
import type { PeerCredentials } from '@podwire/linux';
import {
  handleBy,
  networkConfigMode,
  networkConfigName,
  type NodeConfig,
  type OpenshiftCniServer,
  type PluginServer,
  renderNetworkConfig,
  startOpenshiftCniServer,
} from '@podwire/openshift-cni';
import { orAborted, readIfExistsSync, replaceFileSync, systemClock } from '@podwire/platform';
import type { AgentConfig } from '../config/index.js';
import type { Log } from '../log.js';

export interface OpenshiftCniOptions {
  readonly config: NonNullable<AgentConfig['openshiftCni']>;
  readonly maxConnections: number;
  /** Milliseconds for a request. */
  readonly deadline: number;
  readonly serve: PluginServer;
  /** Resolves when the node serves pods. Rejects when the agent stops before. */
  readonly ready: Promise<void>;
  /** Aborts when the agent stops: nothing is written from then on. */
  readonly signal: AbortSignal;
  /** Facts of the node for the plugin, once it is ready. */
  readonly describeNode: () => NodeConfig;
  readonly peerCredentials: (socket: Socket) => PeerCredentials | undefined;
  readonly log: Log;
}

/** @throws PodwireError AGENT_RUNNING, CONFIG_INVALID */
export async function openOpenshiftCni(options: OpenshiftCniOptions): Promise<OpenshiftCniServer> {
  const { config, maxConnections, deadline, serve, peerCredentials, log } = options;
  // It is in /run: without it the machine has been started since, and the network configuration speaks of an earlier life.
  if (!fs.existsSync(config.directory)) removeNetworkConfig(config.networkConfigDir, log);
  const server = await startOpenshiftCniServer({
    ...{ directory: config.directory, deadline, maxConnections, peerCredentials, log },
    ...{ hostVeth: 'refused', handle: handleBy(serve), clock: systemClock },
  });
  orAborted(options.ready, options.signal).then(
    () => announce(server, options),
    () => log.debug('stopped before the plugin of OpenShift was served'),
  );
  return server;
}

function announce(
  server: OpenshiftCniServer,
  { config, describeNode, log }: Pick<OpenshiftCniOptions, 'config' | 'describeNode' | 'log'>,
): void {
  const { directory, networkConfigDir, cniVersion } = config;
  try {
    server.publish(describeNode());
    writeNetworkConfig(networkConfigDir, renderNetworkConfig(cniVersion));
    log.info({ directory, networkConfigDir }, 'serving the plugin of OpenShift');
  } catch (err) {
    log.error({ err }, 'the plugin of OpenShift is not served; restart the agent when the cause is gone');
  }
}

function writeNetworkConfig(directory: string, text: string): void {
  const file = path.join(directory, networkConfigName);
  if (readIfExistsSync(file) === text) return;
  fs.mkdirSync(directory, { recursive: true });
  replaceFileSync(file, text, { mode: networkConfigMode, flush: true });
}

function removeNetworkConfig(directory: string, log: Log): void {
  try {
    fs.rmSync(path.join(directory, networkConfigName), { force: true });
  } catch (err) {
    log.warn({ err }, 'the network configuration of an earlier life could not be removed');
  }
}
