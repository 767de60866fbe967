import type { DesiredState } from '@podwire/desired-state';
import type { EndpointRecord, RecordStore } from '../records/record.js';
import type { Engine, FaultPoints, NamespaceIdentity, Owned } from '@podwire/engine';
import { PodwireError } from '@podwire/errors';
import type { Clock } from '@podwire/ipam';
import { endpointKey } from '@podwire/network-contract';
import type { ClusterMember } from '../cluster/contract.js';
import type { KeyedMutex } from '@podwire/platform';
import type { Log } from '../log.js';
import type { Network } from '../networks.js';
import type { FindLinks } from '../node/found-links.js';
import type { NodeState } from '../node/node.js';
import type { Namespaces } from '../node/namespaces.js';
import type { Readiness } from '../readiness.js';
import type { NodePolicy } from '../policy/contract.js';
import type { RequestTrace } from '../trace.js';
import { ownerOfEndpoint } from './owners.js';
import type { PendingAdds } from './pending-adds.js';
import type { BrokenRecords } from './broken-records.js';
import type { ReadSockets } from './hidden-sockets.js';
import type { EndpointScopes } from './endpoint-scopes.js';
import type { HostPorts } from './host-ports.js';
import type { EndpointRegistry } from './registry.js';

/** The networks of the configuration, the node that has them, and everything that is planned for it beside endpoints. */
export interface NodeSide {
  readonly networks: readonly Network[];
  readonly node: NodeState;
  readonly desired: DesiredState;
}

/** The endpoints of the node, in memory and in files, with the host ports that they claim. */
export interface EndpointState {
  readonly endpoints: EndpointRegistry;
  readonly scopes: EndpointScopes;
  readonly records: RecordStore;
  readonly ports: HostPorts;
  readonly broken: BrokenRecords;
}

/** The order in which requests and reconciles work on endpoints. */
export interface RequestOrder {
  /** By endpoint; what concerns all of them (GC, reconcile, recovery) locks them all (CNI specification 1.1.0, section 2). */
  readonly locks: KeyedMutex;
  readonly pendingAdds: PendingAdds;
  /** Milliseconds that a rollback may last after the request's own deadline. */
  readonly cleanupDeadline: number;
}

export interface KernelSide {
  readonly engine: Engine;
  readonly namespaces: Namespaces;
  /** Addresses that the kernel routes to pods' links, without length. */
  readonly readPodAddresses?: () => readonly string[];
  readonly findLinks?: FindLinks;
  readonly readSockets?: ReadSockets;
}

/** Parts that follow objects of the cluster. */
export interface ClusterSide {
  /** Absent without a cluster. */
  readonly cluster?: ClusterMember;
  /** Absent where policy is switched off. */
  readonly policy?: NodePolicy;
}

/** From these it follows if an ADD can be served. */
export interface ServingState extends ClusterSide {
  readonly readiness: Readiness;
}

/** Dependencies that tests replace: time, chance, crashes and the log. */
export interface ProcessSide {
  readonly clock: Clock;
  readonly random: (bytes: number) => Uint8Array;
  readonly faults: FaultPoints;
  readonly log: Log;
}

/** The whole, where the agent is put together and requests come in. Every other function names the parts that it uses. */
export interface EndpointContext
  extends NodeSide, EndpointState, RequestOrder, KernelSide, ServingState, ProcessSide {}

/** Input of a plan of an endpoint. */
export type PlanningInput = NodeSide &
  Pick<EndpointState, 'endpoints'> &
  Pick<ProcessSide, 'clock' | 'random'>;

/** Owners of all resources that the agent wants on the node. */
export type ResourceOwners = Pick<NodeSide, 'node' | 'desired'> &
  Pick<EndpointState, 'endpoints'> &
  ClusterSide;

/** One request. */
export interface Call {
  readonly signal: AbortSignal;
  readonly trace: RequestTrace;
  /** Sends the answer to the plugin. @throws when the plugin is gone */
  answer(body: string): Promise<void>;
}

export function ownedBy(record: EndpointRecord): Owned & { readonly namespace: NamespaceIdentity } {
  return {
    owner: ownerOfEndpoint(endpointKey(record.id)),
    resources: record.resources,
    namespace: record.namespace,
  };
}

/** @throws PodwireError AGENT_NOT_READY saying why; in a cluster also NODE_NAME_TAKEN and NODE_FENCED */
export function requireReady({ readiness, cluster, policy }: ServingState): void {
  cluster?.requireUnfenced();
  if (!readiness.ready)
    throw new PodwireError('AGENT_NOT_READY', readiness.problem ?? 'the agent is starting');
  policy?.requireKnown();
}
