import type { RecordStore } from '../records/record.js';
import type { Engine, FaultPoints, NamespaceIdentity, Owned } from '@podwire/engine';
import { PodwireError } from '@podwire/errors';
import type { Clock } from '@podwire/ipam';
import { endpointKey } from '@podwire/network-contract';
import type { ClusterMember } from '../cluster/contract.js';
import type { KeyedMutex } from '@podwire/platform';
import type { Log } from '../log.js';
import type { Network } from '../networks.js';
import type { NodeState } from '../node/node.js';
import type { Namespaces } from '../node/namespaces.js';
import type { Readiness } from '../readiness.js';
import type { NodePolicy } from '../policy/contract.js';
import type { RequestTrace } from '../trace.js';
import type { PendingAdds } from './pending-adds.js';
import type { BrokenRecords } from './broken-records.js';
import type { ReadSockets } from './hidden-sockets.js';
import type { HostPorts } from './host-ports.js';
import type { AgentRecord, EndpointRegistry } from './registry.js';

/** The parts of the agent that operations on endpoints use. */
export interface EndpointContext {
  readonly networks: readonly Network[];
  readonly node: NodeState;
  readonly endpoints: EndpointRegistry;
  readonly ports: HostPorts;
  readonly broken: BrokenRecords;
  readonly records: RecordStore;
  readonly engine: Engine;
  /** By endpoint; what concerns all of them (GC, reconcile, recovery) locks them all (CNI specification 1.1.0, section 2). */
  readonly locks: KeyedMutex;
  readonly pendingAdds: PendingAdds;
  readonly namespaces: Namespaces;
  /** Addresses that the kernel routes to pods' links, without length. */
  readonly readPodAddresses?: () => readonly string[];
  readonly readSockets?: ReadSockets;
  readonly readiness: Readiness;
  /** Absent where policy is switched off. */
  readonly policy?: NodePolicy;
  /** Absent without a cluster. */
  readonly cluster?: ClusterMember;
  readonly clock: Clock;
  readonly random: (bytes: number) => Uint8Array;
  readonly faults: FaultPoints;
  readonly log: Log;
  /** Milliseconds that a rollback may last after the request's own deadline. */
  readonly cleanupDeadline: number;
}

/** One request. */
export interface Call {
  readonly signal: AbortSignal;
  readonly trace: RequestTrace;
  /** Sends the answer to the plugin. @throws when the plugin is gone */
  answer(body: string): Promise<void>;
}

export function ownedBy(record: AgentRecord): Owned & { readonly namespace: NamespaceIdentity } {
  return {
    owner: `endpoint:${endpointKey(record.id)}`,
    resources: record.resources,
    namespace: record.namespace,
  };
}

/** @throws PodwireError AGENT_NOT_READY saying why; in a cluster also NODE_NAME_TAKEN and NODE_FENCED */
export function requireReady(context: Pick<EndpointContext, 'readiness' | 'cluster' | 'policy'>): void {
  const { readiness, cluster, policy } = context;
  cluster?.requireUnfenced();
  if (!readiness.ready)
    throw new PodwireError('AGENT_NOT_READY', readiness.problem ?? 'the agent is starting');
  policy?.requireKnown();
}
