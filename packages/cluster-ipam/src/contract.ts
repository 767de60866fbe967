/** The node's side of the cluster's addresses: the blocks that it claims ahead of need, and its reports. */
import type { Prefix } from '@podwire/addresses';
import type { ClusterCache, Keys, Allocation } from '@podwire/cluster-state';
import type { BlockSource, Ipam, PoolSpec } from '@podwire/ipam';
import type { Clock, FaultPoints, Log } from '@podwire/platform';
import type { BlockIndex } from './blocks/block-index.js';
import type { Store } from '@podwire/store';

/**
 * State of the node's own blocks without the store: written to disk on every change, so that an agent that starts while
 * the store is away can go on. Lives and dies with the boot, as the pods' networks do.
 */
export interface SavedState {
  /** Since 2 `lending` has all borrowed addresses of own blocks; before, only those on their way to the store. */
  readonly version: 1 | 2;
  readonly node: string;
  readonly instance: string;
  readonly affinities: readonly BlockAffinity[];
  /** Pools as they were when last seen, to go on with. JSON of the cluster's pool objects. */
  readonly pools: readonly unknown[];
  /** Addresses in use that an import has found, and that no endpoint record has. */
  readonly imported?: readonly Allocation[];
  /**
   * Addresses of own blocks that are borrowed or may be; some grants may still be on their way to the store. They are here
   * before the borrower can know of them, and are allocated again only when the store says that they are not borrowed.
   */
  readonly granted?: readonly GrantedAddress[];
  /** Blocks with a report that may still be on its way to the store: they are reported again. Absent in older files. */
  readonly uncertainReports?: readonly string[];
  /** Peers and their blocks are not needed: their routes are in the kernel and stay. */
  /** Milliseconds since the epoch: when the store last confirmed that all this is so. */
  readonly confirmedAt: number;
  /** Milliseconds that the node counted on then, which is what the store knows of it. Absent in older files. */
  readonly fenceAfter?: number;
}

/** An address of a block of this node, for another node. */
export interface GrantedAddress {
  readonly address: string;
  readonly node: string;
  readonly block: string;
}

export interface BlockAffinity {
  /** A block; or a single address (`/32`, `/128`) that the node has borrowed. */
  readonly cidr: string;
  readonly state: 'pending' | 'confirmed' | 'pendingDeletion';
}

/** Where the file is kept. @throws PodwireError RECORD_IO */
export interface SavedStateStore {
  read(): SavedState | undefined;
  write(file: SavedState): void;
}

export interface NodeAddressingOptions {
  readonly node: string;
  readonly instance: string;
  /** Labels of the node, for pools' selectors. */
  readonly labels: Readonly<Record<string, string>>;
  readonly store: Store;
  readonly keys: Keys;
  readonly cache: ClusterCache;
  readonly savedState: SavedStateStore;
  readonly clock: Clock;
  readonly random: (bytes: number) => Uint8Array;
  readonly faults: FaultPoints;
  readonly log: Log;
  /**
   * Milliseconds without any confirmation by the store after which the node hands nothing out any more, since the controller
   * may give its blocks to others after that time. Both clocks are asked: the monotonic one and the wall.
   */
  readonly fenceAfter: number;
  /** Milliseconds between reports of what is in use; several changes travel together. */
  readonly reportEvery: number;
  readonly timing?: Partial<Timing>;
  /** Prefixes in the pools that others use: no block that lies in one of these is claimed. */
  readonly taken?: () => readonly Prefix[];
  /** A shared index of the cache, for many nodes in one process. Its `take` is called all the same. */
  readonly index?: BlockIndex;
}

/** Milliseconds; the defaults are for clusters of any size. */
export interface Timing {
  /** For one call to the store. 5 s. */
  readonly call: number;
  /** Between two questions whether the store still knows the node and its blocks. A tenth of `fenceAfter`, 60 s at most. */
  readonly confirmEvery: number;
  /** Between looks for blocks that are empty. 15 s. */
  readonly tidyEvery: number;
  /** How long a surplus block is kept before it is released. 60 s. */
  readonly keepSurplus: number;
  /** From the announcement of a release to the release: peers and the node remove their routes. 3 s. */
  readonly releaseDelay: number;
  /** For the owner of a block to answer a borrow request. 2 s. */
  readonly borrowAnswer: number;
  /** After an uncertain report, until the same records are reported again. 5 min. */
  readonly reportAgain: number;
  /** Pauses after failures: doubling from the first to the last. 0.2 s, 10 s. */
  readonly firstPause: number;
  readonly lastPause: number;
}

/** Claim of the cluster's workloads on the addresses of one pod. */
export interface PodAddresses {
  /** Exactly these, at most one of each family; for `LeaseRequest.requested`. */
  readonly requested: readonly string[];
  /** These if they are to be had; for `LeaseRequest.preferred`. */
  readonly preferred: readonly string[];
  /** Only these pools. */
  readonly pools?: readonly string[];
  /** For `LeaseRequest.workload`. */
  readonly workload: string;
}

export interface PodName {
  readonly namespace: string;
  readonly name: string;
}

/** A need of an ADD that the node's blocks do not meet. */
export interface Need {
  readonly network: string;
  readonly families: readonly (4 | 6)[];
  /** Addresses by name; one of another node's block is borrowed, if its owner agrees. */
  readonly requested?: readonly string[];
  /** Pools by name. */
  readonly pools?: readonly string[];
  /** As `PodAddresses.workload`: addresses that are kept for it are refused to all others. */
  readonly workload?: string;
}

export interface AddressingStatus {
  readonly connected: boolean;
  /** Milliseconds since the epoch. */
  readonly confirmedAt: number;
  /** Nothing is handed out: the store was not heard of for too long, or the name is another agent's. */
  readonly fenced: boolean;
  readonly affinities: readonly BlockAffinity[];
  /** Reports that have not reached the store. */
  readonly unreported: number;
  /** Problems in words with codes: blocks that were lost to others, objects that cannot be read. */
  readonly problems: readonly string[];
}

/** One for each node, for all of its networks. */
export interface NodeAddressing {
  /**
   * Reads the saved state of an earlier life, and (when the store answers) compares them with the store: blocks that are still
   * ours stay, blocks that became another's are dropped and reported as a problem. Resolves at once when the store is
   * away and there is a saved state. `inUse`: addresses that endpoint records name. A block of the node's name with
   * something in use is claimed again when it has no owner.
   * @throws PodwireError AGENT_NOT_READY when the store is away and nothing is known
   */
  start(
    inUse: readonly { readonly address: string; readonly owner: string; readonly since?: number }[],
    signal: AbortSignal,
  ): Promise<void>;
  /** The pools of a network that this node may use, in order of names, as they are now. */
  pools(network: string): readonly PoolSpec[];
  /**
   * The addresses of a network, for everything that others want of them: borrowed addresses, empty blocks that go back,
   * blocks that are lost, imported leases.
   * To be called once for each network, before {@link start}.
   */
  attach(network: string, ipam: Ipam): void;
  /**
   * For the network's {@link Ipam}: hands out what was claimed ahead, never waits. `claim` returns undefined when
   * none is left; a claim in the background begins with the first block that is more than half used.
   */
  source(network: string): BlockSource;
  /**
   * The slow way, for when `allocate` has failed: claims a block, or borrows. When it resolves, `allocate` is worth another try.
   * @throws PodwireError POOL_EXHAUSTED, ADDRESS_IN_USE, ADDRESS_NOT_IN_POOL, NODE_FENCED, STORE_UNAVAILABLE
   */
  provide(need: Need, signal: AbortSignal): Promise<void>;
  /** Must be asked before every allocation. @throws PodwireError NODE_FENCED */
  requireUnfenced(): void;
  /**
   * Reports if a workload claims this pod's addresses; in memory, for every ADD. Only then {@link addressesFor} is
   * asked.
   */
  hasWorkload(network: string, pod: PodName): boolean;
  /**
   * Addresses that the pod's workload gives it: they are the pod's from now on, in the store (so no other pod of the
   * workload gets them), and, where they lie in a block of another node, are borrowed already.
   * @throws PodwireError STORE_UNAVAILABLE, ADDRESS_IN_USE (all addresses of the workload are taken), as {@link provide}
   */
  addressesFor(
    network: string,
    pod: PodName,
    families: readonly (4 | 6)[],
    signal: AbortSignal,
  ): Promise<PodAddresses | undefined>;
  /** Notes the addresses of a pod: kept for a sticky workload. In the background. */
  noteAssigned(network: string, pod: PodName, addresses: readonly string[]): void;
  /** The pod is gone: its addresses are the workload's again, unless that is sticky. In the background. */
  noteUnassigned(network: string, pod: PodName): void;
  /** An address came into use or is free again: told to the store in the background. Never throws, never waits. */
  noteUsed(entry: Allocation): void;
  noteFree(address: string): void;
  /** Everything that peers must route to this node: confirmed and pending blocks, and borrowed addresses. */
  affinities(): readonly BlockAffinity[];
  /** Called after pools or block affinities have changed. Returns how to stop. */
  onChange(listener: () => void): () => void;
  /** Writes out what is unreported, now. @throws PodwireError STORE_UNAVAILABLE */
  flush(signal: AbortSignal): Promise<void>;
  status(): AddressingStatus;
  stop(): Promise<void>;
}
