/** Updates the node's affinities from the cluster cache. In memory alone. */
import { containsAddress, parseAddress } from '@podwire/addresses';
import type { Block, ClusterCache } from '@podwire/cluster-state';
import { describeError } from '@podwire/errors';
import type { Ipam } from '@podwire/ipam';
import type { Clock, Log } from '@podwire/platform';
import type { PendingGrants } from '../borrowing/pending-grants.js';
import type { ClusterStore } from '../cluster-store.js';
import type { AddressingEvents, Problems } from '../events.js';
import type { NodePools } from '../node-pools.js';
import { type Affinity, type AllocationState, cidrOfAddress } from './allocation-state.js';
import type { ImportedAddresses } from './imported.js';

export interface AffinitySyncOptions {
  readonly store: ClusterStore;
  readonly cache: ClusterCache;
  readonly state: AllocationState;
  readonly pools: NodePools;
  readonly ipams: ReadonlyMap<string, Ipam>;
  readonly imported: ImportedAddresses;
  readonly pendingGrants: PendingGrants;
  readonly problems: Problems;
  readonly events: AddressingEvents;
  readonly clock: Clock;
  readonly log: Log;
}

export class AffinitySync {
  readonly #options: AffinitySyncOptions;

  constructor(options: AffinitySyncOptions) {
    this.#options = options;
  }

  syncAll(): void {
    const { state, cache, store } = this.#options;
    const cidrs = new Set([...state.blocks().map(({ cidr }) => cidr), ...cache.blocksOf(store.node)]);
    for (const { borrowedFrom } of state.borrowed()) cidrs.add(borrowedFrom!);
    // The index has borrowed addresses without their blocks, and a node borrows of few blocks.
    if (cache.borrowedBy(store.node).length > 0) {
      for (const { value } of cache.blocks.values()) {
        if (value.loans.some(({ node }) => node === store.node)) cidrs.add(value.cidr);
      }
    }
    this.syncBlocks(cidrs, true);
  }

  /**
   * @param isFirst this life of the node cannot have requested any of it
   * @returns whether the affinities have changed
   */
  syncBlocks(cidrs: Iterable<string>, isFirst = false): boolean {
    let changed = false;
    for (const cidr of cidrs) {
      const block = this.#options.cache.blocks.get(cidr)?.value;
      // Borrowed addresses first: if the block is the node's own now, IPAM moves their leases into it.
      if (this.#syncBorrowed(cidr, block, isFirst)) changed = true;
      if (this.#syncOwn(cidr, block)) changed = true;
    }
    return changed;
  }

  #syncOwn(cidr: string, block: Block | undefined): boolean {
    const { store, state, clock } = this.#options;
    const known = state.get(cidr);
    if (store.owns(block)) {
      const changed = known === undefined || known.state !== nextState(known, block);
      const affinity = known ?? state.add(cidr, block.state, clock.elapsed());
      affinity.state = nextState(affinity, block);
      if (known === undefined && affinity.used > 0) this.#restoreLeases(affinity);
      this.syncGranted(block);
      return changed;
    }
    if (known === undefined || known.borrowedFrom !== undefined) return false;
    // Also a block that another agent of this name owns.
    this.#lose(known, block);
    return true;
  }

  /** Leases that were foreign while the node did not own the block. */
  #restoreLeases({ prefix }: Affinity): void {
    const { state, imported } = this.#options;
    for (const allocation of state.usedWithin(prefix)) {
      if (imported.has(allocation.address)) imported.adoptLease(allocation);
      else imported.adoptInUse(allocation.owner, allocation);
    }
  }

  /** From now on nothing of it is allocated: another node may own it. */
  #lose(affinity: Affinity, block: Block | undefined): void {
    const { state, ipams, log } = this.#options;
    state.delete(affinity.cidr);
    for (const ipam of ipams.values()) ipam.dropBlock(affinity.cidr);
    if (affinity.state === 'pendingDeletion' && affinity.used === 0) return;
    const fields = { block: affinity.cidr, owner: block?.node, used: affinity.used };
    log.warn(fields, 'this node does not own a block any more');
  }

  /** Addresses of the node's block that are borrowed, or about to be: they must not be allocated, now or in the next life. */
  grantedOf({ cidr, prefix }: Affinity): Block['loans'] {
    const { cache, pendingGrants } = this.#options;
    const written = cache.blocks.get(cidr)?.value.loans ?? [];
    return [...written, ...pendingGrants.within(prefix)];
  }

  /** To be called before IPAM gets a block (again). */
  markGranted(network: string, affinity: Affinity): void {
    const ipam = this.#options.ipams.get(network);
    if (ipam === undefined) return;
    for (const loan of this.grantedOf(affinity)) this.#mark(ipam, loan);
  }

  /** Updates IPAM from the borrowed addresses of an own block. */
  syncGranted(block: Block): void {
    const { state, pools, pendingGrants } = this.#options;
    const affinity = state.get(block.cidr);
    const ipam = affinity && pools.ipamAround(affinity.prefix);
    if (ipam === undefined) return;
    const granted = new Set(block.loans.map(({ address }) => address));
    for (const loan of block.loans) this.#mark(ipam, loan);
    this.#dropProblems(affinity!, granted);
    for (const { address } of ipam.borrowed()) {
      const isHere = state.around(parseAddress(address))?.cidr === block.cidr;
      if (isHere && !granted.has(address) && !pendingGrants.has(address)) ipam.unmarkBorrowed(address);
    }
  }

  #dropProblems({ prefix }: Affinity, granted: ReadonlySet<string>): void {
    const { problems } = this.#options;
    for (const topic of problems.keys()) {
      if (!topic.startsWith(grantedTopic(''))) continue;
      const address = topic.slice(grantedTopic('').length);
      if (!granted.has(address) && containsAddress(prefix, parseAddress(address))) problems.delete(topic);
    }
  }

  #mark(ipam: Ipam, { address, node }: Block['loans'][number]): void {
    const { problems } = this.#options;
    try {
      ipam.markBorrowed({ address, borrower: node });
      problems.delete(grantedTopic(address));
    } catch (error) {
      const message = `ADDRESS_IN_USE: ${address} is lent to node ${node}: ${describeError(error)}`;
      problems.set(grantedTopic(address), message);
    }
  }

  #syncBorrowed(owner: string, block: Block | undefined, isFirst: boolean): boolean {
    const { store, state, clock, events } = this.#options;
    let changed = false;
    const loans = block?.loans.filter(({ node }) => node === store.node) ?? [];
    if (state.borrowedCount === 0 && loans.length === 0) return false;
    const borrowed = new Set(loans.map(({ address }) => cidrOfAddress(address)));
    for (const affinity of state.borrowed()) {
      if (affinity.borrowedFrom !== owner || borrowed.has(affinity.cidr)) continue;
      this.#lose(affinity, block);
      changed = true;
    }
    for (const cidr of borrowed) {
      if (state.get(cidr) !== undefined) continue;
      const affinity = state.add(cidr, 'confirmed', clock.elapsed(), owner);
      // An owner without an instance was imported, and has granted nothing itself.
      affinity.isUnverified = isFirst || block?.instance === undefined;
      if (affinity.isUnverified) events.wake();
      changed = true;
    }
    return changed;
  }
}

const grantedTopic = (address: string): string => `granted ${address}`;

/** A block that is being released stays so until its object says otherwise, or is gone. */
function nextState(affinity: Affinity, block: Block): Affinity['state'] {
  return affinity.state === 'pendingDeletion' && block.state === 'confirmed' ? affinity.state : block.state;
}
