import type { Address, Prefix } from '@podwire/addresses';

/** Milliseconds since the epoch. */
export type Clock = () => number;

/** A pool of one network, as the agent's configuration gives it. */
export interface PoolSpec {
  readonly name: string;
  /** ADDRESS/LENGTH */
  readonly cidr: string;
  /** Prefix length of the blocks that a node claims whole; 26 for IPv4 and 122 for IPv6 by default. */
  readonly blockSize: number;
  /** Prefixes or single addresses that are never handed out by themselves (they can be requested: no). */
  readonly reserved?: readonly string[];
  /** No new leases; existing ones stay. */
  readonly disabled?: boolean;
  /** For messages, after the pool's name; `is disabled` when absent. */
  readonly whyDisabled?: string;
  /** `manual`: only for who names the pool or an address of it. `automatic` by default. */
  readonly assignment?: 'automatic' | 'manual';
  /**
   * `node-cidr`: a block is on a link of its own (a bridge), so its first address is the network's, the second the gateway's and
   * the last one (IPv4) for broadcasts; none of them is handed out. `blocks` by default: every address is routed, none is special.
   */
  readonly allocation?: 'blocks' | 'node-cidr';
  /** Addresses of the pool that others use: never allocated, and never claimed where they fill a whole block. */
  readonly taken?: readonly Taken[];
}

/** A stretch of a pool that is not free to be handed out, and why. */
export interface Taken {
  /** ADDRESS/LENGTH */
  readonly cidr: string;
  /** `10.0.0.5 is an address of eth0`: for people. */
  readonly why: string;
}

/** A stretch of addresses of one family as numbers, both ends included. */
export interface AddressRange {
  readonly first: bigint;
  readonly last: bigint;
}

/** A pool after reading its specification. */
export interface Pool {
  readonly name: string;
  /** Canonical ADDRESS/LENGTH */
  readonly cidr: string;
  readonly prefix: Prefix;
  readonly blockSize: number;
  /** Never handed out: sorted, disjoint, inside the pool. */
  readonly reserved: readonly AddressRange[];
  /** Why parts of `reserved` are, where the pool's own settings do not say so. */
  readonly taken: readonly (AddressRange & { readonly why: string })[];
  readonly disabled: boolean;
  readonly whyDisabled: string;
  readonly assignment: 'automatic' | 'manual';
  readonly allocation: 'blocks' | 'node-cidr';
}

/**
 * Source of the blocks that this node owns. Alone on a node that is memory; in a cluster it is the store, which claims
 * ahead of need, so that both methods can stay synchronous and allocation never waits.
 */
export interface BlockSource {
  /**
   * A block of the pool that was not handed out before: the one around `holding`, or else the next one.
   * Undefined when there is none to have. It may be of another length than `blockSize`; one of a single address is a
   * fragment, lent by another node: it is used last and given back as soon as it is free. A block around fragments that
   * were handed out before replaces them.
   */
  claim(pool: Pool, holding?: Address): Prefix | undefined;
  /**
   * A block of which nothing is in use any more; or, when `inUse`, one whose pool has gone while leases in it have not
   * (they are foreign now, and come home when the block does).
   */
  giveBack(pool: Pool, block: Prefix, inUse: boolean): void;
}

export interface IpamOptions {
  readonly pools: readonly PoolSpec[];
  readonly clock: Clock;
  /** How long a released address rests before it may be handed out again, in milliseconds. */
  readonly coolDown: number;
  /** By default every block of the pools may be claimed, in order. */
  readonly blockSource?: BlockSource;
}

export interface Lease {
  /** Canonical text, without a length. */
  readonly address: string;
  readonly pool: string;
  readonly owner: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
  /** As the request had it. */
  readonly workload?: string;
}

export interface LeaseRequest {
  /** An endpoint key; one owner holds at most one address per family. */
  readonly owner: string;
  /** The families wanted; by default one address of each family that an enabled pool (of `pools`) has. */
  readonly families?: readonly (4 | 6)[];
  /**
   * Addresses asked for by name (`ips` capability, CNI_ARGS IP): text, a /length behind it is ignored. At most one
   * per family; a family without one gets any address.
   */
  readonly requested?: readonly string[];
  /** Addresses that are taken when they are free, the first of each family: what a sticky workload had before. */
  readonly preferred?: readonly string[];
  /**
   * Whose address it is, over the lives of its pods. The workload that has released an address may have it again at once, if
   * it asks for it by name (`requested`, `preferred`).
   */
  readonly workload?: string;
  /**
   * Only these pools, by name or CIDR, whatever their family (`cni.projectcalico.org/ipv4pools` restricts IPv4 alone:
   * the caller that translates it adds the IPv6 pools). Empty means none given.
   */
  readonly pools?: readonly string[];
}

export interface BlockReport {
  readonly cidr: string;
  readonly used: number;
  readonly free: number;
  readonly cooling: number;
  readonly reserved: number;
  /** Out of the block for good, for other nodes. */
  readonly lent: number;
}

/** `used + cooling + reserved + lent + free` is `size`; a reserved address that is in use (adopted) counts as used. */
export interface PoolReport {
  readonly name: string;
  readonly cidr: string;
  readonly size: bigint;
  readonly used: number;
  readonly cooling: number;
  readonly reserved: bigint;
  readonly lent: number;
  readonly free: bigint;
  readonly blocks: readonly BlockReport[];
}

/** An address of a block of this node that another node borrows. */
export interface BorrowedAddress {
  /** Canonical text, without a length. */
  readonly address: string;
  readonly borrower: string;
}

/** Result of taking over a lease; a `foreign` one lies in no block that this node could own. */
export type Adoption = 'pool' | 'foreign';

/** The addresses of one network on one node, in memory. Every method is synchronous. */
export interface Ipam {
  /**
   * One address per family: of the first pool in order that has one, of its earliest claimed block that has one,
   * the longest free. All or nothing. An owner that holds leases already gets those back when they answer the
   * request, so asking twice is harmless.
   * @throws PodwireError POOL_EXHAUSTED, ADDRESS_IN_USE, ADDRESS_NOT_IN_POOL; REQUEST_INVALID for text that is no
   * address, two addresses of one family or an unknown pool; ENDPOINT_EXISTS when the owner holds leases that do not
   * answer the request
   */
  allocate(request: LeaseRequest): Lease[];
  /**
   * Takes over a lease found in an endpoint record at start, whatever the pools say today: an address that is in use
   * must be known. A foreign one is tracked, listed and released like any other.
   * @throws PodwireError ADDRESS_IN_USE when another owner has it; RECORD_IO when it is no address
   */
  adopt(lease: Lease): Adoption;
  /** Frees everything the owner holds; none is fine. The addresses cool down. Returns what was freed. */
  release(owner: string): Lease[];
  /**
   * Gives back blocks in which nothing is used or cooling, but keeps one such block of each enabled pool at hand.
   * Returns them. Not done by itself, since the node's routes change with its blocks.
   */
  releaseEmptyBlocks(): string[];
  /**
   * Other pools from now on. Blocks and leases inside the new ones stay what they are, whatever the pools are called and
   * however they were cut (a pool that is split is replaced by its parts); foreign leases inside a new pool come home
   * when the block around them is to be had. Blocks of no pool any more are given back, and their leases become foreign.
   * @throws PodwireError CONFIG_INVALID, and nothing has changed
   */
  setPools(pools: readonly PoolSpec[]): void;
  /**
   * The block is another's: nothing is handed out of it any more, and its leases become foreign. Returns those. Its source is
   * told nothing. A block that is not owned is no error: what was noted as lent of it is forgotten.
   */
  dropBlock(cidr: string): Lease[];
  /**
   * Takes a free address out of a block of this node, for another node: this one, or any.
   * @throws PodwireError POOL_EXHAUSTED when nothing is free, ADDRESS_IN_USE, ADDRESS_NOT_IN_POOL when the address is
   * reserved or not of this block, or the block is not owned
   */
  reserveBorrowed(block: string, borrower: string, address?: string): BorrowedAddress;
  /**
   * As {@link reserveBorrowed}, for an address that is borrowed already: its block may be claimed later, and it may be cooling.
   * @throws PodwireError ADDRESS_IN_USE when a pod of this node has it; then it is borrowed when that lease ends
   */
  markBorrowed(borrowed: BorrowedAddress): void;
  /** The borrower has returned the address: it cools down. An address that is not borrowed is no error. */
  unmarkBorrowed(address: string): void;
  borrowed(): readonly BorrowedAddress[];
  /**
   * An address that only one workload may have, by name (`requested`, `preferred` with this `workload`): a static one, or what
   * a sticky pod comes back to. All others get something else. When it is in use, it stays so. Undefined: for all again.
   */
  keep(address: string, workload: string | undefined): void;
  leases(): Lease[];
  /** Leases outside every block of this node: of pools that have been removed since, for instance. */
  foreignLeases(): Lease[];
  /** The blocks this node owns, in claim order. The same array until a block comes or goes. */
  blocks(): readonly string[];
  report(): PoolReport[];
}
