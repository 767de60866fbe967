/** Claims blocks for this node: one transaction, which the creation of the block decides. */
import {
  type Address,
  containsPrefix,
  formatPrefix,
  parsePrefix,
  type Prefix,
  prefixOf,
} from '@podwire/addresses';
import { type Block, blockKind, type ClusterCache, type Pool, type Stored } from '@podwire/cluster-state';
import { PodwireError } from '@podwire/errors';
import { type Clock, type FaultPoints, orAborted } from '@podwire/platform';
import { type Condition, encodeObject, isUncertain, type Revision } from '@podwire/store';
import type { AllocationState } from '../affinities/allocation-state.js';
import type { ImportedAddresses } from '../affinities/imported.js';
import type { ClusterStore } from '../cluster-store.js';
import type { NodePools } from '../node-pools.js';
import type { BlockIndex } from './block-index.js';

export type ClaimOutcome =
  | 'claimed'
  /** The pool has no block that this node may claim. */
  | 'none'
  /** The block around the address has another owner. */
  | 'taken';

/** Each conflict teaches the cache something; more of them mean a crowd. */
const attempts = 32;

export interface BlockClaimsOptions {
  readonly store: ClusterStore;
  readonly instance: string;
  readonly cache: ClusterCache;
  readonly index: BlockIndex;
  readonly pools: NodePools;
  readonly state: AllocationState;
  readonly imported: ImportedAddresses;
  readonly taken: () => readonly Prefix[];
  readonly clock: Clock;
  readonly faults: FaultPoints;
}

export class BlockClaims {
  readonly #options: BlockClaimsOptions;
  /** Claims under way, by cidr. */
  readonly #claiming = new Map<string, Promise<boolean>>();

  constructor(options: BlockClaimsOptions) {
    this.#options = options;
  }

  /**
   * Claims a block of the pool, or the one around an address of it.
   * @throws PodwireError as the store does; NODE_FENCED when the store does not know the node; STORE_CONFLICT when others were
   * faster every time
   */
  async claim(poolName: string, around: Address | undefined, signal: AbortSignal): Promise<ClaimOutcome> {
    const { store, cache } = this.#options;
    for (let attempt = 0; attempt < attempts; attempt++) {
      if (!store.isRegistered && !(await store.readLease(signal))) throw store.notRegistered();
      const pool = cache.pools.get(poolName);
      if (pool === undefined || pool.value.disabled || pool.value.deleting) return 'none';
      const outcome = await this.#attempt(pool, around, signal);
      if (outcome !== 'again') return outcome;
    }
    throw new PodwireError(
      'STORE_CONFLICT',
      `pool ${poolName}: others claimed the same blocks ${attempts} times`,
    );
  }

  async #attempt(
    pool: Stored<Pool>,
    around: Address | undefined,
    signal: AbortSignal,
  ): Promise<ClaimOutcome | 'again'> {
    const { store, cache, index, pools, imported } = this.#options;
    const cidr = around === undefined ? this.#choose(pool.value) : this.#blockAround(pool.value, around);
    if (cidr === undefined) return 'none';
    const before = cache.blocks.get(cidr);
    if (before?.value.node !== undefined) return store.owns(before.value) ? 'claimed' : 'taken';
    // The creation of this block would not conflict with a block of another size.
    if (before === undefined && index.isTouched(pool.value.name, parsePrefix(cidr))) return 'taken';
    const claiming = this.#claimingIn(pool.value);
    const isTooMuch = !pools.hasRoom(pool.value, claiming.length) && !this.#isInUse(cidr);
    const other = this.#claiming.get(cidr) ?? (isTooMuch ? claiming[0] : undefined);
    if (other !== undefined) {
      // The next attempt sees its result.
      await orAborted(other, signal).catch(() => signal.throwIfAborted());
      return 'again';
    }
    if (isTooMuch) return 'none';
    // The claim ends the addresses that this node borrows of the block: their pods must be known before.
    if (before !== undefined) await imported.verifyBorrowed(signal);
    return (await this.#tryToClaim(pool, cidr, before, signal)) ? 'claimed' : 'again';
  }

  #choose({ name }: Pool): string | undefined {
    const { store, index, taken } = this.#options;
    return index.choose(name, startOf(store.node), this.#claiming, taken());
  }

  /** The existing block, which may have another size, or the one to create. */
  #blockAround({ blockSize }: Pool, address: Address): string {
    return this.#options.index.around(address) ?? formatPrefix(prefixOf(address, blockSize));
  }

  #claimingIn({ cidr }: Pool): Promise<boolean>[] {
    const pool = parsePrefix(cidr);
    return [...this.#claiming].flatMap(([block, claim]) =>
      containsPrefix(pool, parsePrefix(block)) ? claim : [],
    );
  }

  /** With pods of this node in it, no other node must get the block, however many blocks this node has. */
  #isInUse(cidr: string): boolean {
    return this.#options.state.usedWithin(parsePrefix(cidr)).length > 0;
  }

  async #tryToClaim(
    pool: Stored<Pool>,
    cidr: string,
    before: Stored<Block> | undefined,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { store, instance, clock } = this.#options;
    const block: Block = {
      cidr,
      node: store.node,
      instance,
      state: 'pending',
      claimedAt: clock.now(),
      loans: before?.value.loans.filter(({ node }) => node !== store.node) ?? [],
    };
    const conditions: Condition[] = [
      { key: store.keys.block(cidr), expect: before?.revision ?? 'absent' },
      { key: pool.key, expect: pool.revision },
      store.leaseCondition(),
    ];
    const claim = this.#writeClaim(block, conditions, signal);
    this.#claiming.set(cidr, claim);
    try {
      return await claim;
    } finally {
      this.#claiming.delete(cidr);
    }
  }

  async #writeClaim(block: Block, conditions: readonly Condition[], signal: AbortSignal): Promise<boolean> {
    const { store, cache, faults } = this.#options;
    faults.reach('claim:chosen');
    const revision = await this.#write(block, conditions, signal);
    faults.reach('claim:written');
    if (revision === undefined) return false;
    cache.note(store.keys.block(block.cidr), block, revision);
    return true;
  }

  /** @returns undefined when a condition did not hold, or nothing was written */
  async #write(
    block: Block,
    conditions: readonly Condition[],
    signal: AbortSignal,
  ): Promise<Revision | undefined> {
    const { store } = this.#options;
    const writes = [
      { op: 'put', key: store.keys.block(block.cidr), value: encodeObject(blockKind, block) },
    ] as const;
    try {
      return await store.write({ conditions, writes }, signal);
    } catch (error) {
      if (!isUncertain(error)) throw error;
      const revision = await this.#readBack(block, signal);
      // A full store is never certain, and would refuse all other blocks too.
      if (revision === undefined && error instanceof PodwireError && error.code === 'STORE_FULL') throw error;
      return revision;
    }
  }

  /** After an uncertain write. If the store does not answer, and the block was written, the watch delivers it later. */
  async #readBack({ cidr }: Block, signal: AbortSignal): Promise<Revision | undefined> {
    const { store, cache } = this.#options;
    const key = store.keys.block(cidr);
    const asked = cache.blocks.get(cidr)?.revision;
    const item = await store.read(key, signal);
    store.learnObject(key, item, asked);
    if (item === undefined) return undefined;
    return store.owns(cache.blocks.get(cidr)?.value) ? item.revision : undefined;
  }
}

/** Where a node begins to look: FNV-1a of its name, so that nodes that start together do not meet. */
function startOf(node: string): number {
  let hash = 0x811c_9dc5;
  for (const byte of Buffer.from(node)) hash = Math.imul(hash ^ byte, 0x0100_0193) >>> 0;
  return hash;
}
