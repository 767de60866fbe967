/** The life of an agent: it listens, recovers, serves, and stops without touching the network of pods. */
import type { Lease } from '@podwire/ipam';
import type { ApiServer } from '@podwire/local-api';
import type { KubeOvnCniServer } from '@podwire/kube-ovn-cni';
import type { NodeConfig, OpenshiftCniServer } from '@podwire/openshift-cni';
import { tellSwitchedOff } from './policy/publish/switched-off.js';
import { PodwireError } from '@podwire/errors';
import { compact, type KeyedMutex, orAborted, systemClock, withDeadline } from '@podwire/platform';
import { startApiServer } from './api/api-server.js';
import { MetricsListener } from './api/metrics-listener.js';
import type { ApiContext } from './api/routes.js';
import { type AgentDependencies, type AgentParts, assembleAgent } from './assemble.js';
import { isServing, whyNotServing } from './cluster/status.js';
import type { AgentConfig } from './config/index.js';
import { watchDrift } from './drift/watch-places.js';
import type { ClusterSide, EndpointContext, EndpointState, ServingState } from './endpoints/context.js';
import { followAttachments } from './endpoints/follow-attachments.js';
import { serveRequest } from './endpoints/serve-request.js';
import { loadRecords } from './recovery.js';
import type { AgentLoop } from './reconcile-loop.js';
import { LiveConfig } from './reload/live-config.js';
import { changeNetwork, chooseNetwork, type Network } from './networks.js';
import { type CniServer, startCniServer } from './server/cni-server.js';

/** Milliseconds. */
const policyWait = 1_000;

export interface Agent {
  /** Resolves when the node is recovered and ADD is served for the first time; rejects when stopped before. */
  readonly ready: Promise<void>;
  readonly reconciler: AgentLoop;
  /** How it is, in a few words. */
  describe(): string;
  /** Configuration in force; it can be read again from its file. */
  readonly configuration: LiveConfig;
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
  const parts = assembleAgent(config, dependencies);
  const { context, reconciler } = parts;
  loadRecords(context);
  context.policy?.start();
  const release = holdRequests(context.locks);
  const configuration = openLiveConfig(config, dependencies, parts, (listen) => sockets.metrics.move(listen));
  const stopped = new AbortController();
  const sockets = await openSockets(config, dependencies, parts, { configuration, stopped: stopped.signal });
  context.log.info({ socket: config.socket, endpoints: context.endpoints.size }, 'listening');
  const switchedOff = sayWithoutPolicy(config, dependencies, context);
  const watching = dependencies.watchAddresses?.(() => reconciler.nudge(), stopped.signal);
  const repairing = watchDrift(config.watchDrift ? (dependencies.changes ?? []) : [], {
    ...{ context, reconciler, drift: parts.drift, clock: systemClock },
    ...{ deadline: config.deadlines.request, signal: stopped.signal },
  });
  let moving: ReturnType<typeof followMoves>;
  const begin = (): void => {
    if (stopped.signal.aborted) return release();
    context.policy?.goOnWithSaved();
    reconciler.start();
    moving = followMoves(context);
    release();
  };
  // The addresses of this node must be known before anything is pruned or a lease is adopted.
  if (context.cluster === undefined) void untilPolicyBegan(context.policy, stopped.signal).then(begin);
  else void context.cluster.join({ ...context, loop: reconciler }).then(begin);
  return {
    ready: reconciler.ready,
    reconciler,
    configuration,
    describe: () => describeService(context),
    async stop() {
      context.log.info('stopping');
      stopped.abort();
      await Promise.all([watching, repairing, moving?.stop()]);
      const patience = configuration.running.deadlines.stop;
      await Promise.all([
        sockets.cni.stop(patience),
        sockets.openshift?.stop(patience),
        sockets.kubeOvn?.stop(patience),
      ]);
      context.pendingAdds.stop();
      await reconciler.stop();
      await (context.policy ?? switchedOff)?.stop();
      await context.cluster?.stop();
      await Promise.all([sockets.api.stop(), sockets.metrics.stop()]);
      await closeEngine(context);
      context.log.info('stopped; the network of pods stays as it is');
    },
  };
}

/** Undefined where no model reads objects. */
function followMoves(context: EndpointContext): ReturnType<typeof followAttachments> | undefined {
  const { cluster, networks } = context;
  if (cluster === undefined || networks.every(({ model }) => model.objects === undefined)) return undefined;
  return followAttachments(context, cluster, systemClock);
}

function sayWithoutPolicy(
  { nodeName }: AgentConfig,
  { cluster: world, log }: AgentDependencies,
  { cluster, policy }: ClusterSide,
): ReturnType<typeof tellSwitchedOff> | undefined {
  if (cluster === undefined || world === undefined || policy !== undefined) return undefined;
  return tellSwitchedOff(nodeName, cluster, world, log);
}

/**
 * A node alone reads its policies from files, within milliseconds: with them the first reconcile is the only one of the start.
 * Where that takes longer, requests are not held up any further, and a second reconcile follows.
 */
async function untilPolicyBegan(policy: ClusterSide['policy'], stopped: AbortSignal): Promise<void> {
  if (policy === undefined) return;
  const reason = (): PodwireError => new PodwireError('AGENT_NOT_READY', 'policies are still being read');
  await withDeadline(stopped, policyWait, (signal) => orAborted(policy.begun, signal), { reason }).catch(
    () => undefined,
  );
}

function describeService(context: ServingState & Pick<EndpointState, 'endpoints'>): string {
  const { size } = context.endpoints;
  const problem = whyNotServing(context);
  const state = isServing(context) ? 'ready' : 'not ready';
  return `${state}, ${size} ${size === 1 ? 'endpoint' : 'endpoints'}${problem === undefined ? '' : `: ${problem}`}`;
}

/**
 * Requests may arrive as soon as the socket is there, but the recovery must be the first to have the node: this holds
 * the queue until it has taken its place in it.
 */
function holdRequests(locks: KeyedMutex): () => void {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  void locks.withAll(new AbortController().signal, () => released);
  return release;
}

/** A request whose plugin was not waited for may still be at work: it ends first, or is given up with its time. */
async function closeEngine({
  engine,
  locks,
  cleanupDeadline,
  log,
}: Pick<EndpointContext, 'engine' | 'locks' | 'cleanupDeadline' | 'log'>): Promise<void> {
  try {
    await locks.withAll(AbortSignal.timeout(cleanupDeadline), () => engine.close());
  } catch (err) {
    log.error({ err }, 'stopping in the middle of a request');
    await engine.close();
  }
}

/** @param moveMetrics is asked only after the start */
function openLiveConfig(
  config: AgentConfig,
  { clock, log, origin }: AgentDependencies,
  { context, service, reconciler }: AgentParts,
  moveMetrics: (listen: AgentConfig['metrics']['listen']) => Promise<void>,
): LiveConfig {
  const findNetwork = (wanted: string): Network | undefined =>
    context.networks.find(({ view }) => view.name === wanted);
  return new LiveConfig({
    ...{ config, clock, log },
    ...compact({ origin }),
    parts: {
      countPods: (network, pool) => countOwners(findNetwork(network)?.ipam.leases() ?? [], pool),
      setLogLevel: (level) => void (log.level = level),
      setTimes: (times) => reconciler.setTimes(times),
      setTraces: (capacity) => service.traces.resize(capacity),
      setNetwork(next) {
        const network = findNetwork(next.name);
        if (network !== undefined) changeNetwork(network, next, config.cluster !== undefined);
      },
      moveMetrics,
      networksChanged: () => reconciler.nudge(),
    },
  });
}

function countOwners(leases: readonly Lease[], pool: string): number {
  return new Set(leases.filter((lease) => lease.pool === pool).map(({ owner }) => owner)).size;
}

interface Sockets {
  readonly cni: CniServer;
  readonly openshift: OpenshiftCniServer | undefined;
  readonly kubeOvn: KubeOvnCniServer | undefined;
  readonly api: ApiServer;
  readonly metrics: MetricsListener;
}

async function openSockets(
  config: AgentConfig,
  dependencies: AgentDependencies,
  parts: AgentParts,
  { configuration, stopped }: { readonly configuration: LiveConfig; readonly stopped: AbortSignal },
): Promise<Sockets> {
  const { peerCredentials, log } = dependencies;
  const cni = await startCniServer({
    socket: config.socket,
    maxConnections: config.limits.connections,
    deadline: config.deadlines.receive,
    handle: (received, answer) => serveRequest(parts.service, received, answer),
    peerCredentials,
    log,
  });
  let openshift: OpenshiftCniServer | undefined;
  let kubeOvn: KubeOvnCniServer | undefined;
  try {
    openshift = await openOpenshiftSocket(config, dependencies, parts, stopped);
    kubeOvn = await openKubeOvnSocket(config, dependencies, parts, stopped);
    const facts = { configuration, connections: () => cni.connections };
    const api = describeApi(config, dependencies, parts, facts);
    return { cni, openshift, kubeOvn, ...(await startApi(config, api, dependencies)) };
  } catch (error) {
    await Promise.all([cni.stop(0), openshift?.stop(0), kubeOvn?.stop(0)]);
    throw error;
  }
}

/** Undefined where it is not configured; its code is not loaded then. */
async function openOpenshiftSocket(
  { openshiftCni: config, limits, deadlines }: AgentConfig,
  { peerCredentials, log }: AgentDependencies,
  { context, service, reconciler }: AgentParts,
  signal: AbortSignal,
): Promise<OpenshiftCniServer | undefined> {
  if (config === undefined) return undefined;
  const { openOpenshiftCni } = await import('./server/openshift-cni.js');
  return openOpenshiftCni({
    ...{ config, maxConnections: limits.connections, deadline: deadlines.request, peerCredentials, log },
    serve: (received, answer) => serveRequest(service, received, answer),
    ...{ ready: reconciler.ready, signal },
    describeNode: () => describeForOpenshift(context),
  });
}

/** Undefined where it is not configured, as for OpenShift's. */
async function openKubeOvnSocket(
  { kubeOvnCni: config, stateDir, limits, deadlines }: AgentConfig,
  { peerCredentials, log }: AgentDependencies,
  { context, service, reconciler }: AgentParts,
  signal: AbortSignal,
): Promise<KubeOvnCniServer | undefined> {
  if (config === undefined) return undefined;
  const { openKubeOvnCni } = await import('./server/kube-ovn-cni.js');
  return openKubeOvnCni({
    ...{ config, stateDir, maxConnections: limits.connections, deadline: deadlines.request },
    serve: (received, answer) => serveRequest(service, received, answer),
    findUid: async (...pod) => context.cluster?.podRecords?.findUid(...pod),
    ...{ ready: reconciler.ready, signal, peerCredentials, log },
  });
}

/** Facts of the node for OpenShift's plugin, of the network that its pods get. */
function describeForOpenshift({ networks, node }: Pick<EndpointContext, 'networks' | 'node'>): NodeConfig {
  const network = chooseNetwork(networks, { name: 'openshift-sdn' });
  const serviceNetworkCidr = network.model.serviceNetwork?.(network.view);
  return { mtu: node.view(network).mtu, ...compact({ serviceNetworkCidr }) };
}

function describeApi(
  config: AgentConfig,
  { version, clock }: AgentDependencies,
  { context, service, reconciler, drift }: AgentParts,
  facts: Pick<ApiContext, 'connections' | 'configuration'>,
): ApiContext {
  const { traces, metrics } = service;
  return {
    ...facts,
    context,
    traces,
    metrics,
    reconciler,
    drift,
    nodeName: config.nodeName,
    version,
    startedAt: clock(),
    deadline: config.deadlines.request,
  };
}

async function startApi(
  config: AgentConfig,
  api: ApiContext,
  { peerCredentials }: AgentDependencies,
): Promise<Pick<Sockets, 'api' | 'metrics'>> {
  const onSocket = await startApiServer(config.apiSocket, api, peerCredentials);
  const metrics = new MetricsListener(api);
  try {
    await metrics.move(config.metrics.listen);
    return { api: onSocket, metrics };
  } catch (error) {
    await onSocket.stop();
    throw error;
  }
}
