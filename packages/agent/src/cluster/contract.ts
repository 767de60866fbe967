/** What the rooms of a cluster's member share. */
import type { ClusterCache, ClusterCacheOptions } from '@podwire/cluster-state';
import type { Need, NodeAddressing, NodeAddressingOptions } from '@podwire/cluster-ipam';
import type { Controller, ControllerOptions } from '@podwire/controller';
import type { Engine } from '@podwire/engine';
import type { BlockSource } from '@podwire/ipam';
import type { Clock, FaultPoints, KeyedMutex } from '@podwire/platform';
import type { Store } from '@podwire/store';
import type { ClusterConfig } from '../config/index.js';
import type { AgentRecord, EndpointRegistry } from '../endpoints/registry.js';
import type { Log } from '../log.js';
import type { Network } from '../networks.js';
import type { HostView } from '../node/host-view.js';
import type { ClusterFacts, NodeState } from '../node/node.js';
import type { Readiness } from '../readiness.js';
import type { BgpDaemon, BgpFollower } from './bgp-contract.js';
import type { ClusterPools } from './cluster-pools.js';
import type { Identity } from './identity.js';
import type { Peers } from './peers.js';
import type { Registration } from './registration.js';
import type { StateFiles } from './state-files.js';
import type { LinkAddress } from './underlay.js';

/** What a member needs of the world. */
export interface ClusterWorld {
  readonly store: Store;
  readonly files: StateFiles;
  readonly clock: Clock;
  /** Which machine this is; see `node-name.ts`. */
  readonly machine?: string;
  /** Of the store's servers, as far as they are known; absent where the store is on this machine. */
  readonly storeAddresses?: () => readonly string[];
  readonly readAddresses: () => readonly LinkAddress[];
  /** A text that changes when the link was down or is reached otherwise; undefined while it cannot be used. */
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
  readonly locks: KeyedMutex;
  readonly readiness: Readiness;
  /** For what only a reconcile can follow. */
  readonly loop: { nudge(): void };
}

/** This node as a member of its cluster. */
export interface ClusterMember {
  readonly identity: Identity;
  readonly facts: ClusterFacts;
  readonly cache: ClusterCache;
  readonly registration: Registration;
  readonly addressing: NodeAddressing;
  readonly peers: Peers;
  readonly pools: ClusterPools;
  readonly labels: Readonly<Record<string, string>>;
  /** `since`: RFC 3339. */
  readonly connection: { readonly kind: string; readonly connected: boolean; readonly since: string };
  readonly controller: { readonly enabled: boolean; readonly leading: boolean };
  /** Where BGP is configured, once the node has begun to join. */
  readonly bgp: BgpFollower | undefined;
  blockSource(network: string): BlockSource;
  /** Before every allocation. @throws PodwireError AGENT_NOT_READY, NODE_NAME_TAKEN, NODE_FENCED */
  requireUnfenced(): void;
  /** @throws PodwireError as NodeAddressing.provide does */
  provide(need: Need, signal: AbortSignal): Promise<void>;
  noteUsed(record: AgentRecord): void;
  noteFree(record: AgentRecord): void;
  /** Begins to join, and goes on until it has. Resolves when it is known how that stands for now. Never rejects. */
  join(parts: FollowingParts): Promise<void>;
  /** What a reconcile begins with. @throws PodwireError AGENT_NOT_READY and others that say why nothing is known yet */
  prepareReconcile(): void;
  /** A reconcile has ended: what has changed while it ran is followed now. */
  followSoon(): void;
  /** What is wrong, in words. */
  problems(): string[];
  /** Called after what others may show of the cluster has changed: peers, blocks, the node. Returns how to stop. */
  onChange(listener: () => void): () => void;
  /** Takes back the presence, and leaves everything else. */
  stop(): Promise<void>;
}
