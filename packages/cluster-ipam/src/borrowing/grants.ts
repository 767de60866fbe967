/** The owner's side of borrowing: only the owner knows which addresses of its blocks are free. */
import {
  type Block,
  type BorrowRequest,
  borrowRequestKind,
  type ClusterCache,
  type Stored,
} from '@podwire/cluster-state';
import { describeError, PodwireError } from '@podwire/errors';
import type { Ipam } from '@podwire/ipam';
import type { Clock, FaultPoints, Log } from '@podwire/platform';
import { encodeObject, isUncertain } from '@podwire/store';
import type { AllocationState } from '../affinities/allocation-state.js';
import type { AffinitySync } from '../affinities/sync.js';
import type { ClusterStore } from '../cluster-store.js';
import { type AddressingEvents, forEachTolerant } from '../events.js';
import type { Fence } from '../fence.js';
import type { NodePools } from '../node-pools.js';
import type { PendingGrants } from './pending-grants.js';

/** Milliseconds after which no borrower waits any more, whatever the clocks of two machines say. */
const staleAfter = 10 * 60_000;
const longestReason = 256;

export interface BorrowGrantsOptions {
  readonly store: ClusterStore;
  readonly cache: ClusterCache;
  readonly fence: Fence;
  readonly state: AllocationState;
  readonly pools: NodePools;
  readonly ipams: ReadonlyMap<string, Ipam>;
  readonly sync: AffinitySync;
  readonly pendingGrants: PendingGrants;
  readonly events: AddressingEvents;
  readonly clock: Clock;
  readonly faults: FaultPoints;
  readonly log: Log;
}

export class BorrowGrants {
  readonly #options: BorrowGrantsOptions;
  /** Keys of requests for addresses of this node's blocks. */
  readonly #requests = new Set<string>();

  constructor(options: BorrowGrantsOptions) {
    this.#options = options;
  }

  get hasRequests(): boolean {
    return this.#requests.size > 0;
  }

  /** A borrow request was added, changed or deleted. */
  noteRequest(key: string): void {
    const { store, cache } = this.#options;
    const request = cache.borrowRequests.get(key)?.value;
    const owner = request && cache.blocks.get(request.block)?.value.node;
    // An own request for a block that is this node's by now needs no answer.
    const isForUs = request !== undefined && owner === store.node && request.node !== store.node;
    if (isForUs && request.refused === undefined) this.#requests.add(key);
    else this.#requests.delete(key);
  }

  /** @throws as the store does */
  async answerRequests(signal: AbortSignal): Promise<void> {
    const { store, cache, log } = this.#options;
    await forEachTolerant(log, [...this.#requests], signal, async (key) => {
      const request = cache.borrowRequests.get(key);
      const block = request && cache.blocks.get(request.value.block);
      const isOpen = request !== undefined && request.value.refused === undefined && store.owns(block?.value);
      if (!isOpen) this.#requests.delete(key);
      else await this.#answer(request, block, signal);
    });
  }

  async #answer(request: Stored<BorrowRequest>, block: Stored<Block>, signal: AbortSignal): Promise<void> {
    const { store, clock } = this.#options;
    const { key, value, revision } = request;
    if (clock.now() - value.askedAt > staleAfter) {
      this.#requests.delete(key);
      const writes = [{ op: 'delete', key }] as const;
      await store.write({ conditions: [{ key, expect: revision }], writes }, signal);
      return;
    }
    const address = this.#reserve(value);
    if (address instanceof PodwireError) await this.#refuse(request, address, signal);
    else await this.#grant(request, block, address, signal);
  }

  /** Takes the address out of IPAM until the store has the grant. */
  #reserve({ block, node, address }: BorrowRequest): string | PodwireError {
    const { fence, state, pools } = this.#options;
    try {
      fence.requireUnfenced();
      const affinity = state.get(block);
      const ipam = affinity && pools.ipamAround(affinity.prefix);
      if (ipam === undefined || affinity?.state === 'pendingDeletion') {
        throw new PodwireError('POOL_EXHAUSTED', `block ${block} is being released`);
      }
      return ipam.reserveBorrowed(block, node, address).address;
    } catch (error) {
      if (error instanceof PodwireError) return error;
      throw error;
    }
  }

  async #refuse(
    { key, value, revision }: Stored<BorrowRequest>,
    why: PodwireError,
    signal: AbortSignal,
  ): Promise<void> {
    const refused = describeError(why).slice(0, longestReason);
    const text = encodeObject(borrowRequestKind, { ...value, refused });
    const writes = [{ op: 'put', key, value: text }] as const;
    await this.#options.store.write({ conditions: [{ key, expect: revision }], writes }, signal);
    this.#requests.delete(key);
  }

  async #grant(
    request: Stored<BorrowRequest>,
    block: Stored<Block>,
    address: string,
    signal: AbortSignal,
  ): Promise<void> {
    const { store, events, faults, pendingGrants } = this.#options;
    const { cidr, loans } = block.value;
    const { node } = request.value;
    pendingGrants.add({ address, node, block: cidr });
    try {
      // The saved state first: the grant may reach the store in the next life, which must not allocate the address.
      events.changed();
      faults.reach('grant:chosen');
      const changed: Block = { ...block.value, loans: [...loans, { address, node }] };
      // A borrower that does not wait any more has deleted the request.
      const conditions = [{ key: request.key, expect: request.revision }, store.leaseCondition()];
      const isWritten = await store.replaceBlock(block, changed, signal, { conditions });
      faults.reach('grant:written');
      this.#requests.delete(request.key);
      if (isWritten) this.#confirm(cidr, [address]);
      else {
        pendingGrants.delete(address);
        await this.#retry(request, address, signal);
      }
    } catch (error) {
      const isPending = (isUncertain(error) || signal.aborted) && pendingGrants.has(address);
      if (isPending) pendingGrants.markUncertain(address);
      else this.#cancel(cidr, address);
      throw error;
    }
  }

  /** The block or the request has changed meanwhile. */
  async #retry({ key }: Stored<BorrowRequest>, address: string, signal: AbortSignal): Promise<void> {
    const { store, ipams } = this.#options;
    for (const ipam of ipams.values()) ipam.unmarkBorrowed(address);
    if ((await store.read(key, signal)) !== undefined) this.#requests.add(key);
  }

  #cancel(cidr: string, address: string): void {
    const { state, pools, pendingGrants } = this.#options;
    pendingGrants.delete(address);
    const affinity = state.get(cidr);
    if (affinity !== undefined) pools.ipamAround(affinity.prefix)?.unmarkBorrowed(address);
  }

  /** The store has the grants. The cache knows whether the borrower has returned an address since. */
  #confirm(cidr: string, addresses: readonly string[]): void {
    const { store, cache, sync, pendingGrants } = this.#options;
    for (const address of addresses) pendingGrants.delete(address);
    const block = cache.blocks.get(cidr)?.value;
    if (store.owns(block)) sync.syncGranted(block);
  }

  /**
   * Resolves uncertain grants. A grant that is not in the block may still be under way: the block is written once more as it is, so
   * that its revision changes and the grant fails.
   * @throws as the store does
   */
  async resolveUncertain(signal: AbortSignal): Promise<void> {
    const { pendingGrants, log } = this.#options;
    const blocks = pendingGrants.uncertainBlocks();
    await forEachTolerant(log, blocks, signal, (cidr) => this.#resolveBlock(cidr, signal));
  }

  async #resolveBlock(cidr: string, signal: AbortSignal): Promise<void> {
    const { store, cache, pendingGrants } = this.#options;
    const key = store.keys.block(cidr);
    const asked = cache.blocks.get(cidr)?.revision;
    store.learnObject(key, await store.read(key, signal), asked);
    const uncertain = pendingGrants.uncertainOf(cidr);
    const stored = cache.blocks.get(cidr);
    if (stored === undefined || !store.owns(stored.value)) {
      for (const address of uncertain) this.#cancel(cidr, address);
      return;
    }
    const written = new Set(stored.value.loans.map(({ address }) => address));
    const granted = uncertain.filter((address) => written.has(address));
    const missing = uncertain.filter((address) => !written.has(address));
    this.#confirm(cidr, granted);
    if (missing.length === 0 || !(await store.replaceBlock(stored, stored.value, signal))) return;
    for (const address of missing) this.#cancel(cidr, address);
  }
}
