/** The agent put together: start, readiness, stop. What reaches outside comes in as dependencies. */
import type { Socket } from 'node:net';
import type { Engine, FaultPoints, RecordStore } from '@podwire/engine';
import type { Clock, Ipam, IpamOptions } from '@podwire/ipam';
import type { PeerCredentials } from '@podwire/linux';
import type { NetworkModel } from '@podwire/network-contract';
import { type ApiServer, startApiServer, startMetricsServer } from './api/api-server.js';
import type { ApiContext } from './api/routes.js';
import type { AgentConfig } from './config/index.js';
import type { EndpointContext } from './endpoints/context.js';
import { createHostPorts } from './endpoints/host-ports.js';
import { createEndpointRegistry } from './endpoints/registry.js';
import { serveRequest, type Service } from './endpoints/serve-request.js';
import { createLocks } from './locks.js';
import type { Log } from './log.js';
import { createMetrics } from './metrics.js';
import { createNetworks } from './networks.js';
import type { HostView } from './node/host-view.js';
import type { Namespaces } from './node/namespaces.js';
import { createNodeState } from './node/node.js';
import { loadRecords } from './recovery.js';
import { createReconcileLoop, type ReconcileLoop } from './reconcile-loop.js';
import { startCniServer } from './server/cni-server.js';
import { createTraceLog } from './trace.js';

export interface AgentDependencies {
  readonly version: string;
  readonly engine: Engine;
  readonly records: RecordStore;
  readonly models: ReadonlyMap<string, NetworkModel>;
  readonly createIpam: (options: IpamOptions) => Ipam;
  readonly namespaces: Namespaces;
  readonly readHost: () => HostView;
  readonly peerCredentials: (socket: Socket) => PeerCredentials | undefined;
  /** Milliseconds since the epoch. */
  readonly clock: Clock;
  /** Monotonic milliseconds. */
  readonly elapsed: () => number;
  readonly random: (bytes: number) => Uint8Array;
  readonly faults: FaultPoints;
  readonly log: Log;
}

export interface Agent {
  /** Resolves when the node is recovered and ADD is served for the first time; rejects when stopped before. */
  readonly ready: Promise<void>;
  readonly reconciler: ReconcileLoop;
  /**
   * Takes no new request, lets running ones finish (up to the configured deadline) and closes the sockets. The network of
   * pods stays as it is.
   */
  stop(): Promise<void>;
}

/**
 * Starts the agent. It listens before it has recovered: requests wait their turn behind the recovery, so a plugin that
 * calls while the agent restarts sees no error.
 * @throws PodwireError AGENT_RUNNING, CONFIG_INVALID, RECORD_IO
 */
export async function startAgent(config: AgentConfig, dependencies: AgentDependencies): Promise<Agent> {
  const { clock, elapsed, log, engine } = dependencies;
  const startedAt = clock();
  const context = createContext(config, dependencies);
  const sources = { ...context, version: dependencies.version };
  const metrics = createMetrics(sources);
  const traces = createTraceLog(config.limits.traces);
  const reconciler = createReconcileLoop({
    context,
    metrics,
    elapsed,
    interval: config.reconcileInterval,
    deadline: config.deadlines.reconcile,
  });
  const service: Service = {
    context,
    traces,
    metrics,
    clocks: { now: clock, elapsed },
    deadline: config.deadlines.request,
  };

  const problems = loadRecords(context);
  const open = holdRequests(context);
  const cni = await startCniServer({
    socket: config.socket,
    maxConnections: config.limits.connections,
    deadline: config.deadlines.receive,
    handle: (received, answer) => serveRequest(service, received, answer),
    peerCredentials: dependencies.peerCredentials,
    log,
  });
  const api: ApiContext = {
    context,
    traces,
    metrics,
    reconciler,
    nodeName: config.nodeName,
    version: dependencies.version,
    startedAt,
    recordProblems: problems,
    connections: () => cni.connections,
    deadline: config.deadlines.request,
  };
  const apiServers = await startApi(config, api, dependencies);
  log.info({ socket: config.socket, endpoints: context.endpoints.size }, 'listening');
  reconciler.start();
  open();

  return {
    ready: reconciler.ready,
    reconciler,
    async stop() {
      log.info('stopping');
      await cni.stop(config.deadlines.stop);
      reconciler.stop();
      await Promise.all(apiServers.map((server) => server.stop()));
      await engine.close();
      log.info('stopped; the network of pods stays as it is');
    },
  };
}

function createContext(config: AgentConfig, dependencies: AgentDependencies): EndpointContext {
  const networks = createNetworks(config, dependencies);
  const { readHost } = dependencies;
  return {
    ...dependencies,
    networks,
    node: createNodeState({ name: config.nodeName, networks, readHost }),
    endpoints: createEndpointRegistry(),
    ports: createHostPorts(),
    locks: createLocks(),
    readiness: { ready: false, problem: undefined },
    cleanupDeadline: config.deadlines.request,
  };
}

/**
 * Requests may arrive as soon as the socket is there, but the recovery must be the first to have the node: this holds
 * the queue until it has taken its place in it.
 */
function holdRequests({ locks }: EndpointContext): () => void {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  void locks.withAll(new AbortController().signal, () => opened);
  return open;
}

async function startApi(
  config: AgentConfig,
  api: ApiContext,
  { peerCredentials }: AgentDependencies,
): Promise<ApiServer[]> {
  const onSocket = await startApiServer(config.apiSocket, { api, peerCredentials });
  if (config.metrics.listen === undefined) return [onSocket];
  return [onSocket, await startMetricsServer(config.metrics.listen, api)];
}
