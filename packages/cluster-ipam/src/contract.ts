/** The node's side of a cluster's addresses: which blocks it owns, ahead of need, and what it tells about them. */
import type { BlockSource, PoolSpec } from '@podwire/ipam';
import type { ClusterCopy, Keys, LedgerEntry } from '@podwire/cluster';
import type { Clock, FaultPoints, Log } from '@podwire/rim';
import type { Store } from '@podwire/store';

/**
 * What the node knows of its own blocks without the store: written to disk on every change, so that an agent that starts while
 * the store is away can go on. Lives and dies with the boot, as the pods' networks do.
 */
export interface HoldingsFile {
  readonly version: 1;
  readonly node: string;
  readonly instance: string;
  readonly holdings: readonly Holding[];
  /** Pools as they were when last seen, to go on with. JSON of the cluster's pool objects. */
  readonly pools: readonly unknown[];
  /** Peers and their blocks are not needed: their routes are in the kernel and stay. */
  /** Milliseconds since the epoch: when the store last confirmed that all this is so. */
  readonly confirmedAt: number;
}

export interface Holding {
  /** A block; or a single address (`/32`, `/128`) that another node has lent. */
  readonly cidr: string;
  readonly state: 'pending' | 'confirmed' | 'pendingDeletion';
}

/** Where the file is kept. @throws PodwireError RECORD_IO */
export interface HoldingsStore {
  read(): HoldingsFile | undefined;
  write(file: HoldingsFile): void;
}

export interface NodeAddressingOptions {
  readonly node: string;
  readonly instance: string;
  /** Labels of the node, for pools' selectors. */
  readonly labels: Readonly<Record<string, string>>;
  readonly store: Store;
  readonly keys: Keys;
  readonly copy: ClusterCopy;
  readonly holdings: HoldingsStore;
  readonly clock: Clock;
  readonly random: (bytes: number) => Uint8Array;
  readonly faults: FaultPoints;
  readonly log: Log;
  /**
   * Milliseconds without any confirmation by the store after which the node hands nothing out any more, since the controller
   * may give its blocks to others after that time. Both clocks are asked: the monotonic one and the wall.
   */
  readonly trustFor: number;
  /** Milliseconds between reports of what is in use; several changes travel together. */
  readonly reportEvery: number;
}

/** What somebody needs and did not get from what the node has. */
export interface Need {
  readonly network: string;
  readonly families: readonly (4 | 6)[];
  /** Addresses by name; one of another node's block is borrowed, if its owner agrees. */
  readonly requested?: readonly string[];
  /** Pools by name. */
  readonly pools?: readonly string[];
}

export interface AddressingStatus {
  readonly connected: boolean;
  /** Milliseconds since the epoch. */
  readonly confirmedAt: number;
  /** Nothing is handed out: the store was not heard of for too long, or the name is another agent's. */
  readonly fenced: boolean;
  readonly holdings: readonly Holding[];
  /** Reports that have not reached the store. */
  readonly unreported: number;
  /** What is wrong, in words with codes: blocks that were lost to others, objects that cannot be read. */
  readonly problems: readonly string[];
}

/** One for each node, for all of its networks. */
export interface NodeAddressing {
  /**
   * Reads the holdings of an earlier life, and (when the store answers) compares them with the store: blocks that are still
   * ours stay, blocks that became another's are dropped and reported as a problem. Resolves at once when the store is
   * away and there are holdings. `inUse`: addresses that endpoint records name. A block of the node's name with
   * something in use is claimed again when it is nobody's.
   * @throws PodwireError AGENT_NOT_READY when the store is away and nothing is known
   */
  start(
    inUse: readonly { readonly address: string; readonly owner: string }[],
    signal: AbortSignal,
  ): Promise<void>;
  /** The pools of a network that this node may use, in order of names, as they are now. */
  pools(network: string): readonly PoolSpec[];
  /**
   * For the network's {@link Ipam}: hands out what was claimed ahead, never waits. `claim` returns undefined when the
   * stock is empty; a claim in the background begins with the first block that is more than half used.
   */
  source(network: string): BlockSource;
  /**
   * The slow way, for when `allocate` has failed: claims a block, or borrows. When it resolves, `allocate` is worth another try.
   * @throws PodwireError POOL_EXHAUSTED, ADDRESS_IN_USE, ADDRESS_NOT_IN_POOL, NODE_FENCED, STORE_UNAVAILABLE
   */
  provide(need: Need, signal: AbortSignal): Promise<void>;
  /** Must be asked before every allocation. @throws PodwireError NODE_FENCED */
  requireTrust(): void;
  /** An address came into use or is free again: told to the store in the background. Never throws, never waits. */
  noteUsed(entry: LedgerEntry): void;
  noteFree(address: string): void;
  /** Everything that peers must route to this node: confirmed and pending blocks, and borrowed addresses. */
  holdings(): readonly Holding[];
  /** Called after pools or holdings have changed. Returns how to stop. */
  onChange(listener: () => void): () => void;
  /** Writes out what is unreported, now. @throws PodwireError STORE_UNAVAILABLE */
  flush(signal: AbortSignal): Promise<void>;
  status(): AddressingStatus;
  stop(): Promise<void>;
}
