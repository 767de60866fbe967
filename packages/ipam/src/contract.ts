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
}

export interface IpamOptions {
  readonly pools: readonly PoolSpec[];
  readonly clock: Clock;
  /** How long a released address rests before it may be handed out again, in milliseconds. */
  readonly coolDown: number;
}

export interface Lease {
  readonly address: string;
  readonly pool: string;
  readonly owner: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
}

export interface LeaseRequest {
  /** An endpoint key; one owner holds at most one address per family. */
  readonly owner: string;
  /** The families wanted; by default one address of each family that an enabled pool has. */
  readonly families?: readonly (4 | 6)[];
  /** Addresses asked for by name (`ips` capability, CNI_ARGS IP): text, a /length behind it is ignored. */
  readonly requested?: readonly string[];
  /** Only these pools, by name or CIDR (`cni.projectcalico.org/ipv4pools`-shaped). */
  readonly pools?: readonly string[];
}

export interface BlockReport {
  readonly cidr: string;
  readonly used: number;
  readonly free: number;
  readonly cooling: number;
  readonly reserved: number;
}

export interface PoolReport {
  readonly name: string;
  readonly cidr: string;
  readonly size: bigint;
  readonly used: number;
  readonly cooling: number;
  readonly reserved: bigint;
  readonly free: bigint;
  readonly blocks: readonly BlockReport[];
}

/** The addresses of one network on one node, in memory. Every method is synchronous. */
export interface Ipam {
  /**
   * One address per family, longest-free first. All or nothing.
   * @throws PodwireError POOL_EXHAUSTED, ADDRESS_IN_USE, ADDRESS_NOT_IN_POOL
   */
  allocate(request: LeaseRequest): Lease[];
  /** Takes over a lease found in an endpoint record at start. @throws PodwireError ADDRESS_IN_USE when doubled. */
  adopt(lease: Lease): void;
  /** Frees everything the owner holds; none is fine. The addresses cool down. Returns what was freed. */
  release(owner: string): Lease[];
  leases(): Lease[];
  /** The blocks this node owns, in claim order. */
  blocks(): string[];
  report(): PoolReport[];
}
