/** The agent as a process: the real kernel, the real clock, signals. */
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { openRecordDirectory, type RecordFiles } from './records/directory.js';
import { type Kernel, openKernel } from '@podwire/backend-linux';
import { createEngine, type FaultPoints, noFaults } from '@podwire/engine';
import { createIpam } from '@podwire/ipam';
import { peerCredentials, readBootId, warmThreadPool } from '@podwire/linux';
import {
  listBoundSockets,
  type NetlinkConnection,
  openRouteConnection,
  openSocketConnection,
} from '@podwire/netlink';
import type { NetworkModel } from '@podwire/network-contract';
import { compact, systemClock } from '@podwire/platform';
import type { Store, StoreSpec } from '@podwire/store';
import { type Agent, startAgent } from './agent.js';
import type { AgentDependencies } from './assemble.js';
import { openBackends } from './backends.js';
import type { BgpDaemon } from './cluster/bgp-contract.js';
import { readKernelAddresses } from './cluster/kernel-addresses.js';
import { describeLinkState } from './cluster/kernel-link.js';
import type { ClusterWorld } from './cluster/contract.js';
import { openStateFiles } from './cluster/state-files.js';
import { followStoreAddresses } from './cluster/store-addresses.js';
import type { BgpConfig } from './config/bgp.js';
import type { AgentConfig, ConfigOrigin } from './config/index.js';
import type { ReadSockets } from './endpoints/hidden-sockets.js';
import { createLog, type Log } from './log.js';
import { indexModels, networkModels } from './models.js';
import {
  describeHostAddresses,
  readKernelHost,
  readKernelHostInSteps,
  readPodAddresses,
} from './node/kernel-host-view.js';
import { watchState } from './node/state-watch.js';
import { createFindLinks } from './node/found-links.js';
import { createNamespaces } from './node/namespaces.js';
import { openRouterHistory } from './node/router-history.js';
import { readKernelRouter } from './node/router-view.js';
import { claimNetworkNamespace, lockStateDirectory } from './own-node.js';
import { openPolicyWorld } from './policy/kernel-world.js';
import type { Trace } from './trace.js';
import { openTraceExport } from './trace-export.js';

/** Parts of a real agent that tests may replace. */
export interface NodeAgentOptions {
  readonly log?: Log;
  readonly faults?: FaultPoints;
  /** Every resource travels alone, so that a fault can strike between any two. */
  readonly single?: boolean;
  /** The file system of the endpoint records. */
  readonly recordFiles?: RecordFiles;
  /** The cluster's store, and what hands its addresses out. */
  readonly store?: Store;
  /** Instead of the registry's. */
  readonly models?: readonly NetworkModel[];
  readonly createAddressing?: ClusterWorld['createAddressing'];
  /** Where the configuration came from; without it a reload finds nothing new. */
  readonly origin?: ConfigOrigin;
}

/**
 * Starts an agent on the network namespace of this process.
 * @throws PodwireError AGENT_RUNNING, CONFIG_INVALID, RECORD_IO
 */
export async function startNodeAgent(config: AgentConfig, options: NodeAgentOptions = {}): Promise<Agent> {
  await warmThreadPool();
  const releases = [lockStateDirectory(config.stateDir)];
  try {
    releases.push(await claimNetworkNamespace());
    const log = options.log ?? createLog({ level: config.log.level, nodeName: config.nodeName });
    const { dependencies, kernel, close } = await openDependencies(config, log, options);
    releases.push(close);
    const world = await openWorld(config, log, options);
    if (world !== undefined) releases.push(() => world.close());
    const traces = await openTraceExport(process.env, dependencies.engine.kinds, log);
    const onTrace = traces === undefined ? {} : { onTrace: (trace: Trace) => traces.add(trace) };
    const cluster = world === undefined ? {} : { cluster: world.cluster };
    const policy = config.policy.enabled
      ? { policy: openPolicyWorld(config, kernel, world?.cluster.store) }
      : {};
    const { origin } = options;
    const agent = await startAgent(config, {
      ...dependencies,
      ...cluster,
      ...policy,
      ...onTrace,
      ...compact({ origin }),
    });
    const stop = async (): Promise<void> => {
      await agent.stop();
      await traces?.close();
    };
    const end = async (): Promise<void> => {
      try {
        await world?.closeStore();
      } finally {
        releaseAll(releases);
      }
    };
    return { ...agent, stop: () => stop().finally(end) };
  } catch (error) {
    releaseAll(releases);
    throw error;
  }
}

function releaseAll(releases: readonly (() => void)[]): void {
  for (const release of releases.toReversed()) release();
}

/** Milliseconds that the kernel may take to list sockets: they are for warnings only. */
const socketsTimeout = 500;

/** Most nodes need it never, and an agent starts on a kernel without it, too. */
function openSocketsOnUse(): { read: ReadSockets; close(): void } {
  let connection: NetlinkConnection | undefined;
  return {
    read(protocol) {
      connection ??= openSocketConnection({ timeout: socketsTimeout });
      return listBoundSockets(connection, protocol);
    },
    close: () => connection?.close(),
  };
}

const listForwardingLinks = (
  { networks }: AgentConfig,
  models: ReadonlyMap<string, NetworkModel>,
): ReadonlySet<string> => new Set(networks.flatMap(({ model }) => models.get(model)?.forwardingLinks ?? []));

async function openDependencies(
  config: AgentConfig,
  log: Log,
  { faults = noFaults, single = false, recordFiles = fs, models = networkModels }: NodeAgentOptions,
): Promise<{ dependencies: AgentDependencies; kernel: Kernel; close: () => void }> {
  const hostConnection = openRouteConnection();
  const sockets = openSocketsOnUse();
  const kernel = openKernel(undefined, { programTimeout: config.deadlines.request });
  const registry = indexModels(models);
  const backends = await openBackends(kernel, config, registry);
  const engine = createEngine({
    backends,
    faults,
    single,
    onError: (message) => log.error(message),
  });
  const directory = path.join(config.stateDir, 'endpoints');
  const ownLinks = listForwardingLinks(config, registry);
  const dependencies: AgentDependencies = {
    version: agentVersion(),
    engine,
    records: openRecordDirectory(directory, engine.kinds, recordFiles),
    models: registry,
    createIpam,
    namespaces: createNamespaces(),
    readHost: () => readKernelHost(hostConnection, ownLinks),
    readHostInSteps: () => readKernelHostInSteps(hostConnection, ownLinks),
    routerHistory: openRouterHistory(
      () => readKernelRouter(hostConnection),
      openStateFiles(config.stateDir),
      readBootId(),
    ),
    readPodAddresses: () => readPodAddresses(hostConnection),
    findLinks: createFindLinks(hostConnection),
    readSockets: (protocol) => sockets.read(protocol),
    watchAddresses: watchHostAddresses(hostConnection, log),
    changes: backends.flatMap(({ changes = [] }) => changes),
    peerCredentials,
    clock: Date.now,
    elapsed: () => performance.now(),
    random: randomBytes,
    faults,
    log,
  };
  const close = (): void => {
    sockets.close();
    hostConnection.close();
  };
  return { dependencies, kernel, close };
}

/** Changes between this call, before the first reconcile reads the host, and the first look are told as well. */
function watchHostAddresses(
  connection: NetlinkConnection,
  log: Log,
): NonNullable<AgentDependencies['watchAddresses']> {
  const initial = describeHostAddresses(connection);
  return (changed, signal) =>
    watchState({
      subject: () => 'addresses of the node',
      read: () => describeHostAddresses(connection),
      ...{ initial, changed, clock: systemClock, log, signal },
    });
}

const plainWarning =
  'the store is spoken to without encryption: others on the network can read and change what nodes obey';

interface OpenWorld {
  readonly cluster: ClusterWorld;
  closeStore(): Promise<void>;
  /** Everything, for a process that does not come up. */
  close(): void;
}

/** Dependencies of a cluster's member; undefined on a node that is alone. @throws PodwireError CONFIG_INVALID */
async function openWorld(
  { cluster, stateDir }: AgentConfig,
  log: Log,
  { store, createAddressing }: NodeAgentOptions,
): Promise<OpenWorld | undefined> {
  if (cluster === undefined) return undefined;
  // Only here: a node that is alone has no use for it in its memory.
  const { createNodeAddressing } = await import('@podwire/cluster-ipam');
  const { createController } = await import('@podwire/controller');
  const { openClusterCache } = await import('@podwire/cluster-state');
  const { openStore, plainEndpoints } = await import('@podwire/store');
  const plain = plainEndpoints(cluster.store);
  if (plain.length > 0) log.warn({ endpoints: plain }, plainWarning);
  const { readMachine } = await import('./cluster/node-name.js');
  const machine = readMachine();
  const bgp = cluster.bgp === undefined ? {} : { bgp: await openBgp(cluster.bgp, stateDir, log) };
  const connection = openRouteConnection();
  try {
    const opened = store ?? (await openStore(cluster.store, { log, clock: systemClock }));
    let closing: Promise<void> | undefined;
    const closeStore = (): Promise<void> => (closing ??= opened.close());
    return {
      cluster: {
        store: opened,
        files: openStateFiles(stateDir),
        clock: systemClock,
        ...compact({ machine }),
        storeAddresses: followStoreAddresses(endpointsOf(cluster.store), { clock: systemClock, log }),
        readAddresses: () => readKernelAddresses(connection),
        readLinkState: (link) => describeLinkState(connection, link),
        openCache: openClusterCache,
        createAddressing: createAddressing ?? createNodeAddressing,
        createController,
        ...bgp,
      },
      closeStore,
      close() {
        connection.close();
        closeStore().catch((err: unknown) => log.warn({ err }, 'the store could not be closed'));
      },
    };
  } catch (error) {
    connection.close();
    throw error;
  }
}

const endpointsOf = (spec: StoreSpec): readonly string[] => ('endpoints' in spec ? spec.endpoints : []);

async function openBgp(config: BgpConfig, stateDir: string, log: Log): Promise<BgpDaemon> {
  const { openBirdDaemon } = await import('./cluster/bird-daemon.js');
  return openBirdDaemon(config, stateDir, log);
}

/** The version of this package. */
export function agentVersion(): string {
  const file = path.resolve(import.meta.dirname, '../../package.json');
  return (JSON.parse(fs.readFileSync(file, 'utf8')) as { version: string }).version;
}
