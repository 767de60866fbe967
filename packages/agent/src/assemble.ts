/** Dependencies of the agent, and its parts put together on them. */
import type { Socket } from 'node:net';
import { DesiredState } from '@podwire/desired-state';
import type { RecordStore } from './records/record.js';
import type { ChangeFeed, Engine, FaultPoints } from '@podwire/engine';
import type { Clock, Ipam, IpamOptions } from '@podwire/ipam';
import type { PeerCredentials } from '@podwire/linux';
import { PodwireError } from '@podwire/errors';
import { compact, KeyedMutex } from '@podwire/platform';
import type { NetworkModel } from '@podwire/network-contract';
import type { ClusterMember, ClusterWorld } from './cluster/contract.js';
import { createClusterMember } from './cluster/member.js';
import type { AgentConfig, ConfigOrigin } from './config/index.js';
import { DriftLog } from './drift/drift-log.js';
import { PendingAdds } from './endpoints/pending-adds.js';
import type { EndpointContext } from './endpoints/context.js';
import { createBrokenRecords } from './endpoints/broken-records.js';
import type { ReadSockets } from './endpoints/hidden-sockets.js';
import { EndpointScopes } from './endpoints/endpoint-scopes.js';
import { createHostPorts } from './endpoints/host-ports.js';
import { createEndpointRegistry } from './endpoints/registry.js';
import type { Service } from './endpoints/serve-request.js';
import type { Log } from './log.js';
import { createMetrics } from './metrics.js';
import { createNetworks } from './networks.js';
import type { NodePolicy, NodePolicyOptions, PolicyCluster, PolicyWorld } from './policy/contract.js';
import { withStorePorts } from './policy/inputs/failsafes.js';
import { createNodePolicy } from './policy/node-policy.js';
import type { FindLinks } from './node/found-links.js';
import type { HostView } from './node/host-view.js';
import type { Namespaces } from './node/namespaces.js';
import { noPeers } from './cluster/peers.js';
import { registerModelScopes } from './node/model-scopes.js';
import { NodeState } from './node/node.js';
import type { RouterHistory } from './node/router-history.js';
import { type AgentLoop, createReconcileLoop } from './reconcile-loop.js';
import { createTraceLog, type Trace } from './trace.js';

export interface AgentDependencies {
  readonly version: string;
  readonly engine: Engine;
  readonly records: RecordStore;
  readonly models: ReadonlyMap<string, NetworkModel>;
  readonly createIpam: (options: IpamOptions) => Ipam;
  readonly namespaces: Namespaces;
  readonly readHost: () => HostView;
  /** The same, with other work in between. */
  readonly readHostInSteps?: () => Promise<HostView>;
  readonly routerHistory?: RouterHistory;
  /** Addresses that the kernel routes to pods' links, without length; none when absent. */
  readonly readPodAddresses?: () => readonly string[];
  /** Without it no link of another plugin is found. */
  readonly findLinks?: FindLinks;
  /** Without it there are no warnings of host ports that hide a process. */
  readonly readSockets?: ReadSockets;
  /** Calls `changed` when the node gets or loses an address, until the signal aborts. Without it the next reconcile finds that. */
  readonly watchAddresses?: (changed: () => void, signal: AbortSignal) => Promise<void>;
  /** Hints of changes by others; without them drift is found in rounds. */
  readonly changes?: readonly ChangeFeed[];
  readonly peerCredentials: (socket: Socket) => PeerCredentials | undefined;
  /** Milliseconds since the epoch. */
  readonly clock: Clock;
  /** Monotonic milliseconds. */
  readonly elapsed: () => number;
  readonly random: (bytes: number) => Uint8Array;
  readonly faults: FaultPoints;
  readonly log: Log;
  /** Absent: no policy, whatever the configuration says. */
  readonly policy?: PolicyWorld;
  /** Where the configuration has a `cluster`. */
  readonly cluster?: ClusterWorld;
  /** Where the configuration can be read again; absent when it was made by a program. */
  readonly origin?: ConfigOrigin;
  /** Gets every finished trace, for export. */
  readonly onTrace?: (trace: Trace) => void;
}

/** The parts of an agent, without its sockets. */
export interface AgentParts {
  readonly context: EndpointContext;
  readonly service: Service;
  readonly reconciler: AgentLoop;
  readonly drift: DriftLog;
}

/** @throws PodwireError CONFIG_INVALID for pools that cannot be used */
export function assembleAgent(config: AgentConfig, dependencies: AgentDependencies): AgentParts {
  const { clock, elapsed, version } = dependencies;
  const context = createContext(config, dependencies, () => reconciler.nudge());
  const drift = new DriftLog(context);
  const metrics = createMetrics({ ...context, version, drift });
  const service: Service = {
    context,
    metrics,
    traces: createTraceLog(config.limits.traces, dependencies.onTrace),
    clocks: { now: clock, elapsed },
    deadline: config.deadlines.request,
  };
  const reconciler = createReconcileLoop({
    context,
    metrics,
    elapsed,
    interval: config.reconcileInterval,
    deadline: config.deadlines.reconcile,
  });
  return { context, service, reconciler, drift };
}

function createContext(
  config: AgentConfig,
  dependencies: AgentDependencies,
  nudge: () => void,
): EndpointContext {
  const desired = new DesiredState({ kinds: dependencies.engine.kinds, log: dependencies.log });
  const cluster = createMember(config, dependencies, desired);
  const { cluster: _, policy: world, ...rest } = dependencies;
  const networks = createNetworks(config, {
    ...rest,
    ...compact({ cluster }),
  });
  if (cluster === undefined) desired.register(noPeers);
  registerModelScopes(
    desired,
    networks.map(({ model }) => model),
  );
  const { readHost, readHostInSteps, routerHistory } = dependencies;
  const facts = {
    ...(cluster === undefined ? {} : { cluster: cluster.facts }),
    ...compact({ routerHistory, readHostInSteps }),
  };
  const endpoints = createEndpointRegistry();
  const node = new NodeState({
    name: config.nodeName,
    networks,
    kinds: dependencies.engine.kinds,
    desired,
    readHost,
    warn: (problem) => dependencies.log.warn({ problem }, 'a pool has addresses that are not free for pods'),
    ...facts,
  });
  const sides = {
    endpoints,
    networks,
    read: desired.read,
    host: () => node.host,
    nudge,
    ...compact({ cluster, world }),
  };
  const policy = createPolicy(config, dependencies, sides);
  return {
    ...rest,
    networks,
    desired,
    node,
    endpoints,
    scopes: new EndpointScopes(desired, endpoints),
    ports: createHostPorts(),
    broken: createBrokenRecords(),
    locks: new KeyedMutex(),
    pendingAdds: new PendingAdds(),
    readiness: { ready: false, problem: undefined },
    cleanupDeadline: config.deadlines.request,
    ...compact({ cluster, policy }),
  };
}

interface PolicySides extends Pick<NodePolicyOptions, 'endpoints' | 'networks' | 'read' | 'host' | 'nudge'> {
  readonly cluster?: ClusterMember;
  readonly world?: PolicyWorld;
}

function createPolicy(
  { nodeName, policy, cluster: shared }: AgentConfig,
  { cluster: world, engine, faults, log }: AgentDependencies,
  { cluster: member, world: policyWorld, ...sides }: PolicySides,
): NodePolicy | undefined {
  if (policyWorld === undefined || !policy.enabled) return undefined;
  const config = withStorePorts(policy, shared?.store);
  const cluster = member === undefined || world === undefined ? undefined : describeCluster(member, world);
  return createNodePolicy({
    ...{ nodeName, config, world: policyWorld, cluster, engine, faults, log },
    ...sides,
  });
}

function describeCluster(member: ClusterMember, { store, files }: ClusterWorld): PolicyCluster {
  const { keys, cache, registration } = member;
  return {
    ...{ store, keys, files, cache },
    leaseId: () => registration.leaseId,
    objectsInForce: () => member.objectsInForce,
    onChange(listener) {
      registration.onChange(listener);
      member.onObjectsInForce(listener);
    },
  };
}

function createMember(
  config: AgentConfig,
  dependencies: AgentDependencies,
  desired: DesiredState,
): ClusterMember | undefined {
  if (config.cluster === undefined) return undefined;
  const { cluster: world, version, models, readHost, random, faults, log } = dependencies;
  if (world === undefined) throw new PodwireError('INTERNAL', 'there is no store for the configured cluster');
  const { nodeName, networks } = config;
  return createClusterMember({
    models: [...new Set(networks.flatMap(({ model }) => models.get(model) ?? []))],
    desired,
    config: config.cluster,
    nodeName,
    version,
    tunnelMac: tunnelMacOf(config, dependencies),
    world,
    readHost,
    random,
    faults,
    log,
  });
}

/** The store has room for one end of tunnels of a node: the first network whose model has tunnels names it. */
function tunnelMacOf({ nodeName, networks }: AgentConfig, { models }: AgentDependencies): string | undefined {
  const identities = networks.map(({ model }) => models.get(model)?.nodeIdentity?.(nodeName));
  return identities.find((identity) => identity !== undefined)?.tunnelMac;
}
