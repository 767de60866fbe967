/** The interfaces of the cluster member and its parts. */
import type { ClusterCache, ClusterCacheOptions, Keys } from '@podwire/cluster-state';
import type { Need, NodeAddressing, NodeAddressingOptions } from '@podwire/cluster-ipam';
import type { Controller, ControllerOptions } from '@podwire/controller';
import type { DesiredState } from '@podwire/desired-state';
import type { Engine } from '@podwire/engine';
import type { BlockSource } from '@podwire/ipam';
import type { NetworkModel } from '@podwire/network-contract';
import type { Clock, FaultPoints } from '@podwire/platform';
import type { Revision, Store } from '@podwire/store';
import type { ClusterConfig } from '../config/index.js';
import type { EndpointRegistry } from '../endpoints/registry.js';
import type { EndpointRecord } from '../records/record.js';
import type { Log } from '../log.js';
import type { Network } from '../networks.js';
import type { HostView } from '../node/host-view.js';
import type { ClusterFacts, NodeState } from '../node/node.js';
import type { Readiness } from '../readiness.js';
import type { BgpDaemon, BgpFollower } from './bgp-contract.js';
import type { ClusterPools } from './cluster-pools.js';
import type { Identity } from './identity.js';
import type { ObjectFactStore } from './object-facts.js';
import type { PeerLeases } from './peer-leases.js';
import type { Peers } from './peers.js';
import type { PodRecords } from './pod-records.js';
import type { Registration } from './registration.js';
import type { StateFiles } from './state-files.js';
import type { LinkAddress } from './underlay.js';

/** The injected environment of a member. */
export interface ClusterWorld {
  readonly store: Store;
  readonly files: StateFiles;
  readonly clock: Clock;
  /** Identifies the machine; see `node-name.ts`. */
  readonly machine?: string;
  /** Of the store's servers, as far as they are known; absent where the store is on this machine. */
  readonly storeAddresses?: () => readonly string[];
  readonly readAddresses: () => readonly LinkAddress[];
  /** A text that changes when the link was down or has other addresses; undefined while it cannot be used. */
  readonly readLinkState: (link: string) => string | undefined;
  readonly openCache: (options: ClusterCacheOptions) => ClusterCache;
  readonly createAddressing: (options: NodeAddressingOptions) => NodeAddressing;
  readonly createController: (options: ControllerOptions) => Controller;
  /** Where BGP is configured. */
  readonly bgp?: BgpDaemon;
}

export interface MemberOptions {
  readonly config: ClusterConfig;
  readonly nodeName: string;
  readonly version: string;
  /** MAC of the node's end of tunnels; undefined where no model of its networks has tunnels. */
  readonly tunnelMac: string | undefined;
  /** Those of its networks. */
  readonly models: readonly NetworkModel[];
  /** Gets the scopes of peers, and the facts of objects. */
  readonly desired: DesiredState;
  readonly world: ClusterWorld;
  readonly readHost: () => HostView;
  readonly random: (bytes: number) => Uint8Array;
  readonly faults: FaultPoints;
  readonly log: Log;
}

/** The parts of the agent that follow the cluster. */
export interface FollowingParts {
  readonly networks: readonly Network[];
  readonly node: NodeState;
  readonly endpoints: EndpointRegistry;
  readonly engine: Engine;
  readonly readiness: Readiness;
  /** For changes that only a reconcile can follow. */
  readonly loop: { nudge(): void };
}

/** This node as a member of its cluster. */
export interface ClusterMember {
  readonly identity: Identity;
  readonly facts: ClusterFacts;
  readonly keys: Keys;
  readonly cache: ClusterCache;
  readonly registration: Registration;
  readonly addressing: NodeAddressing;
  readonly peers: Peers;
  readonly peerLeases: Pick<PeerLeases, 'areKnown' | 'reachabilityOf'>;
  readonly pools: ClusterPools;
  readonly objects: Pick<ObjectFactStore, 'until' | 'areKnown' | 'onChange' | 'revision'>;
  /** Revision of the store up to which what follows from these objects is in force here; undefined where no model reads any. */
  readonly objectsInForce: Revision | undefined;
  /** Present where the addresses of pods come from a controller. */
  readonly podRecords:
    | Pick<
        PodRecords,
        | 'has'
        | 'ask'
        | 'release'
        | 'findProblem'
        | 'findUid'
        | 'isUnanswered'
        | 'noteAnswered'
        | 'untilAnswered'
      >
    | undefined;
  readonly labels: Readonly<Record<string, string>>;
  /** `since`: RFC 3339. */
  readonly connection: { readonly kind: string; readonly connected: boolean; readonly since: string };
  readonly controller: { readonly enabled: boolean; readonly leading: boolean };
  /** Where BGP is configured, once the node has begun to join. */
  readonly bgp: BgpFollower | undefined;
  /** Of stored pools. */
  blockSource(network: string): BlockSource;
  /** Subnets that objects of the cluster give to this node; the network's model has such. */
  subnetsOf(network: Pick<Network, 'model' | 'view'>): readonly string[];
  /** Before every allocation. @throws PodwireError AGENT_NOT_READY, NODE_NAME_TAKEN, NODE_FENCED */
  requireUnfenced(): void;
  /** @throws PodwireError as NodeAddressing.provide does */
  provide(need: Need, signal: AbortSignal): Promise<void>;
  /** Pods are what the objects say up to this revision. */
  notePodsFollowed(revision: Revision): void;
  /** Calls when {@link objectsInForce} has changed. */
  onObjectsInForce(listener: () => void): void;
  noteUsed(record: EndpointRecord): void;
  noteFree(record: EndpointRecord): void;
  /** Joins, and retries in the background after a failure. Resolves with the first outcome. Never rejects. */
  join(parts: FollowingParts): Promise<void>;
  /** The first step of a reconcile. @throws PodwireError AGENT_NOT_READY and others, while the node has not joined */
  prepareReconcile(): void;
  /** After a reconcile: follows what has changed while it ran. */
  followSoon(): void;
  /** For the status; each begins with a code. */
  problems(): string[];
  /** Called after peers, blocks or the node have changed. @returns how to unsubscribe */
  onChange(listener: () => void): () => void;
  /** Revokes the node's lease, and leaves everything else. */
  stop(): Promise<void>;
}
