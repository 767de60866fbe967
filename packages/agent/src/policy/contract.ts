/** Contract between the parts of policy on a node, and between policy and its environment. */
import type { Keys } from '@podwire/cluster-state';
import type { ClusterCache } from '@podwire/cluster-state';
import type { Change, Engine, Owned } from '@podwire/engine';
import type { DropReason, PolicyRenderer, RendererOptions, RulePlace } from '@podwire/network-policy';
import type { ObjectSource, Revision } from '@podwire/objects';
import type { CompilerOptions, Connection, PathDecision, PolicyCompiler } from '@podwire/policy';
import type { Read } from '@podwire/planner';
import type { Clock, FaultPoints } from '@podwire/platform';
import type { Store } from '@podwire/store';
import type { StateFiles } from '../cluster/state-files.js';
import type { AgentConfig } from '../config/index.js';
import type { EndpointRegistry } from '../endpoints/registry.js';
import type { EndpointRecord } from '../records/record.js';
import type { Log } from '../log.js';
import type { Network } from '../networks.js';
import type { HostView } from '../node/host-view.js';
import type { LeaseId } from '@podwire/store';
import type { Applied } from './force/enforcer.js';
import type { PolicyInputs } from './inputs/inputs.js';
import type { ObjectTranslator, PolicyProblem } from './parts.js';

/** Deletes entries of the connection tracking table. */
export interface ConntrackCuts {
  /** Every entry that has one of the addresses at either end, before or after translation. */
  forget(addresses: ReadonlySet<string>, signal: AbortSignal): Promise<void>;
  /** @returns how many entries were deleted */
  deleteWhere(isDenied: (entry: TrackedConnection) => boolean, signal: AbortSignal): Promise<number>;
}

/** A connection of the table as its first packet was, and as the destination sees it. */
export interface TrackedConnection {
  readonly source: string;
  /** After translation. */
  readonly destination: string;
  readonly protocol: string | number;
  readonly sourcePort?: number | undefined;
  readonly destinationPort?: number | undefined;
}

/** A packet that the kernel has dropped. */
export interface DroppedPacket {
  readonly prefix: string;
  readonly source?: string | undefined;
  readonly destination?: string | undefined;
  readonly protocol?: string | number | undefined;
  readonly sourcePort?: number | undefined;
  readonly destinationPort?: number | undefined;
  /** Index of the link that it came in by; absent for what the node itself sends. */
  readonly inputLink?: number | undefined;
}

/** A packet that was dropped, in words that people know. */
export interface Drop {
  /** RFC 3339. */
  readonly time: string;
  readonly direction?: 'ingress' | 'egress' | undefined;
  readonly reason?: string | undefined;
  readonly policy?: string | undefined;
  readonly tier?: string | undefined;
  /** `pod/NAMESPACE/NAME`, `node/NAME` or the address. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly source?: string | undefined;
  readonly destination?: string | undefined;
  readonly protocol?: string | number | undefined;
  readonly sourcePort?: number | undefined;
  readonly destinationPort?: number | undefined;
  /** Name of the link that the packet came in by. */
  readonly inputLink?: string | undefined;
  /** Drops since the last one that were not told, because there were too many. */
  readonly suppressed?: number | undefined;
}

/** The decision of policy on a connection, at each end that is a pod. */
export type Decide = (connection: Connection) => PathDecision;

/** How many packets have met a rule since it was written. */
export interface RuleCounter extends RulePlace {
  readonly packets: bigint;
}

/** Packets that were dropped for one reason since its rules were written. */
export interface DropCount extends DropReason {
  readonly packets: number;
}

export interface PolicyWorld {
  /** Absent where the kernel does not report drops. */
  readonly openDrops?: ((group: number, signal: AbortSignal) => AsyncIterable<DroppedPacket>) | undefined;
  /** Undefined for a link that is not there any more. */
  readonly readLinkName?: ((index: number) => string | undefined) | undefined;
  /** Of all rules of the table of policy that count; absent where the kernel does not tell. */
  readonly readCounts?: (() => readonly RuleCounter[]) | undefined;
  readonly source: ObjectSource;
  readonly createCompiler: (options: CompilerOptions) => PolicyCompiler;
  readonly createRenderer: (options: RendererOptions) => PolicyRenderer;
  readonly createTranslator: () => ObjectTranslator;
  /** Absent: entries of connections stay. */
  readonly conntrack?: ConntrackCuts | undefined;
  readonly clock: Clock;
}

/** Additional dependencies of policy on a node of a cluster. */
export interface PolicyCluster {
  readonly store: Store;
  readonly keys: Keys;
  readonly files: StateFiles;
  readonly cache: Pick<ClusterCache, 'nodes' | 'onChange' | 'synced'>;
  /** The lease of the node's registration; undefined while it has none. */
  readonly leaseId: () => LeaseId | undefined;
  /** Up to which revision the objects are in force that network models read; undefined where none does. */
  readonly objectsInForce: () => Revision | undefined;
  /** Called when one of these may have changed. */
  readonly onChange: (listener: () => void) => void;
}

export interface NodePolicyOptions {
  readonly nodeName: string;
  readonly config: AgentConfig['policy'];
  readonly world: PolicyWorld;
  readonly cluster?: PolicyCluster | undefined;
  readonly engine: Engine;
  readonly endpoints: EndpointRegistry;
  readonly networks: readonly Network[];
  /** Facts that models resolve pods from. */
  readonly read: Read;
  /** As of the last look at it. */
  readonly host: () => HostView;
  /** For what only a reconcile can do: pruning what an earlier life has left. */
  readonly nudge: () => void;
  readonly faults: FaultPoints;
  readonly log: Log;
}

export type PolicyEndpoint = Pick<EndpointRecord, 'pod' | 'id' | 'facts'>;

export interface PolicyState {
  readonly isKnown: boolean;
  /** The whole table was in place once, and nothing has failed since. */
  readonly isApplied: boolean;
  /** Objects up to this revision of their source are in force. */
  readonly revision: Revision | undefined;
  /** Why the newest is not in force, or objects cannot be followed. */
  readonly problem: unknown;
  readonly problems: readonly PolicyProblem[];
  readonly last: Applied | undefined;
}

/** Policy on this node, as the rest of the agent uses it. */
export interface NodePolicy {
  /** True once all objects and facts have been read: until then nothing of the table is touched and no pod is added. */
  readonly isKnown: boolean;
  /** @throws PodwireError AGENT_NOT_READY until policies are known */
  requireKnown(): void;
  /** True while the labels of a pod must be known before it can be added, and are not known. */
  lacksLabels(endpoint: PolicyEndpoint): boolean;
  /** Until the labels do not matter any more. @throws PodwireError POD_LABELS_UNKNOWN after the configured time */
  waitForLabels(endpoint: PolicyEndpoint, signal: AbortSignal): Promise<void>;
  /** Resolves when the pod's policy is in force on this node. @throws PodwireError of the engine; POD_LABELS_UNKNOWN */
  attach(record: EndpointRecord, signal: AbortSignal): Promise<void>;
  /** The pod is complete: other nodes may know it, and policies may name it also where its network enforces none for it. */
  announce(record: EndpointRecord): void;
  /** Resolves when nothing of the endpoint is in the table any more, or that has to be tried again. Never rejects. */
  detach(record: EndpointRecord): Promise<void>;
  /** Repairs what others have changed of the table. */
  repair(signal: AbortSignal): Promise<readonly Change[]>;
  /** Resources that a prune leaves alone. */
  owned(): readonly Owned[];
  readonly state: PolicyState;
  /** Where objects are, in words. */
  readonly source: string;
  /** Answers for many connections of one moment. */
  decider(): Decide;
  /** Read from the kernel at the call. */
  dropCounts(): readonly DropCount[];
  /** From now on, until the signal. */
  drops(signal: AbortSignal): AsyncIterable<Drop>;
  readonly compiler: PolicyCompiler;
  readonly renderer: PolicyRenderer;
  readonly inputs: PolicyInputs;
  /** The node's own addresses may be others. */
  refreshNode(): void;
  /** Called when something else is in force. @returns how to unsubscribe */
  onChange(listener: () => void): () => void;
  /** Called after each transaction, and after each change that needed none. */
  onApplied(listener: (applied: Applied) => void): void;
  /** Where sources do not answer: goes on with what an earlier life has left, if that is certain. */
  goOnWithSaved(): void;
  start(): void;
  /** Resolves when the sources have been read once and the first transaction of this life has ended, well or not. */
  readonly begun: Promise<void>;
  stop(): Promise<void>;
}

export type { ObjectTranslator, PolicyProblem } from './parts.js';
