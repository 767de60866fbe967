/** Provides what the node's own blocks do not have: claims a block, or borrows an address. */
import { type Address, formatAddress, parseAddress, parseInterfaceAddress } from '@podwire/addresses';
import type { ClusterCache, Pool } from '@podwire/cluster-state';
import { PodwireError } from '@podwire/errors';
import type { KeyedMutex } from '@podwire/platform';
import type { AllocationState } from './affinities/allocation-state.js';
import type { BlockIndex } from './blocks/block-index.js';
import type { BlockClaims } from './blocks/claim.js';
import type { SpareBlocks } from './blocks/spares.js';
import type { Borrower } from './borrowing/borrower.js';
import type { Need } from './contract.js';
import type { Fence } from './fence.js';
import { familyOf, type NodePools } from './node-pools.js';
import type { WorkloadIndex } from './workloads/workload-index.js';

export interface AddressProviderOptions {
  readonly fence: Fence;
  readonly cache: ClusterCache;
  readonly index: BlockIndex;
  readonly state: AllocationState;
  readonly pools: NodePools;
  readonly spares: SpareBlocks;
  readonly claims: BlockClaims;
  readonly borrower: Borrower;
  readonly workloads: WorkloadIndex;
  /** By network and family: the second of two ADDs finds what the first was provided. */
  readonly mutex: KeyedMutex;
}

export class AddressProvider {
  readonly #options: AddressProviderOptions;

  constructor(options: AddressProviderOptions) {
    this.#options = options;
  }

  /** @throws PodwireError POOL_EXHAUSTED, ADDRESS_IN_USE, ADDRESS_NOT_IN_POOL, NODE_FENCED, STORE_UNAVAILABLE */
  async provide(need: Need, signal: AbortSignal): Promise<void> {
    this.#options.fence.requireUnfenced();
    const requested = (need.requested ?? []).map(readAddress);
    for (const address of requested) await this.#provideAddress(need, address, signal);
    const named = new Set(requested.map(({ family }) => family));
    for (const family of need.families) {
      if (!named.has(family)) await this.#provideAny(need, family, signal);
    }
  }

  async #provideAddress(need: Need, address: Address, signal: AbortSignal): Promise<void> {
    const { state, pools, workloads, claims } = this.#options;
    const text = formatAddress(address);
    const pool = pools.around(address);
    if (pool?.network !== need.network) {
      const message = `${text} cannot be given: it is in no pool of network ${need.network}`;
      throw new PodwireError('ADDRESS_NOT_IN_POOL', message, { details: { address: text } });
    }
    if (state.around(address) !== undefined) return;
    const workload = workloads.keeperOf(pool.network, text);
    if (workload !== undefined && workload !== need.workload) throw keptByWorkload(text, pool, workload);
    if (pools.isUsable(pool) && (await claims.claim(pool.name, address, signal)) === 'claimed') return;
    if (pool.allocation === 'node-cidr') {
      throw this.#notAvailable(address, pool, 'addresses of blocks of this pool cannot be borrowed');
    }
    await this.#borrowAddress(pool, address, signal);
  }

  async #borrowAddress(pool: Pool, address: Address, signal: AbortSignal): Promise<void> {
    const { index, borrower, pools } = this.#options;
    const block = index.around(address);
    const isOwned = block !== undefined && this.#ownerOf(block) !== undefined;
    if (!isOwned && !pools.isUsable(pool)) throw this.#notForThisNode(formatAddress(address), pool);
    if (!isOwned) throw this.#notAvailable(address, pool, 'its block has no owner and cannot be claimed');
    const outcome = await borrower.borrow(block, formatAddress(address), signal);
    if (outcome.kind === 'granted') return;
    throw this.#notAvailable(
      address,
      pool,
      outcome.kind === 'refused' ? outcome.why : 'which does not answer',
    );
  }

  #ownerOf(block: string): string | undefined {
    return this.#options.cache.blocks.get(block)?.value.node;
  }

  #notAvailable(address: Address, pool: Pool, why: string): PodwireError {
    const text = formatAddress(address);
    const block = this.#options.index.around(address);
    const node = block === undefined ? undefined : this.#ownerOf(block);
    const where = node === undefined ? '' : ` is in block ${block} of node ${node}`;
    return new PodwireError('ADDRESS_IN_USE', `${text} of pool ${pool.name}${where}: ${why}`, {
      details: {
        address: text,
        pool: pool.name,
        node,
        owner: node === undefined ? undefined : `node ${node}`,
      },
    });
  }

  #notForThisNode(address: string, pool: Pool): PodwireError {
    const why = `its pool ${pool.name} ${this.#options.pools.describeUnusable(pool)}`;
    return new PodwireError('ADDRESS_NOT_IN_POOL', `${address} cannot be given: ${why}`, {
      details: { address, pool: pool.name },
    });
  }

  async #provideAny(need: Need, family: 4 | 6, signal: AbortSignal): Promise<void> {
    const { fence, pools, claims, borrower, mutex } = this.#options;
    const wanted = this.#poolsFor(need, family);
    await mutex.withKey(`${need.network} ${family}`, signal, async () => {
      fence.requireUnfenced();
      if (this.#hasFree(need.network, wanted)) return;
      for (const pool of wanted.filter((each) => pools.hasRoom(each))) {
        if ((await claims.claim(pool.name, undefined, signal)) === 'claimed') return;
      }
      // Another claim may have ended while there was no room for this one.
      if (this.#hasFree(need.network, wanted)) return;
      const borrowable = wanted.filter(
        (pool) => pool.borrowing && pool.allocation === 'blocks' && pools.hasRoom(pool),
      );
      if (borrowable.length > 0 && (await borrower.borrowAny(borrowable, signal))) return;
      throw this.#exhausted(need, family, wanted);
    });
  }

  /** In IPAM's order. */
  #poolsFor(need: Need, family: 4 | 6): Pool[] {
    const { pools } = this.#options;
    const names = need.pools === undefined || need.pools.length === 0 ? undefined : new Set(need.pools);
    const isWanted = (pool: Pool): boolean =>
      names === undefined ? pool.assignment === 'automatic' : names.has(pool.name) || names.has(pool.cidr);
    return pools
      .ofNetwork(need.network)
      .filter((pool) => familyOf(pool) === family && pools.isUsable(pool) && isWanted(pool));
  }

  /** Reports if another ADD was provided something that serves this one too. */
  #hasFree(network: string, wanted: readonly Pool[]): boolean {
    const { spares, state, pools } = this.#options;
    const names = new Set(wanted.map(({ name }) => name));
    const isBorrowed = state.spares().some(({ borrowedFrom, prefix }) => {
      const pool = borrowedFrom === undefined ? undefined : pools.around(prefix.address);
      return pool !== undefined && names.has(pool.name);
    });
    return isBorrowed || spares.blocksOf(wanted).length > 0 || spares.freeAddresses(network, names) > 0;
  }

  #exhausted(need: Need, family: 4 | 6, wanted: readonly Pool[]): PodwireError {
    const parts = wanted.map((pool) => this.#describeFull(pool));
    if (parts.length === 0) parts.push('no pool that is enabled and selects this node');
    return new PodwireError(
      'POOL_EXHAUSTED',
      `no free IPv${family} address for network ${need.network}: ${parts.join('; ')}`,
      { details: { network: need.network, family, pools: wanted.map(({ name }) => name) } },
    );
  }

  #describeFull(pool: Pool): string {
    const { pools, index } = this.#options;
    const name = `pool ${pool.name} (${pool.cidr})`;
    if (pools.isTaken(pool)) return `${name} is in use elsewhere as a whole: see this node's status`;
    const full = index.free(pool.name) === 0 ? 'has no free block' : 'has free blocks';
    const most = pool.allocation === 'node-cidr' ? 1 : (pool.maxBlocksPerNode ?? 0);
    if (!pools.hasRoom(pool)) return `${name} ${full}, and this node has as many as it may (${most})`;
    return `${name} ${full}${pool.borrowing ? ', and no other node that was asked lends an address' : ''}`;
  }
}

function readAddress(text: string): Address {
  return text.includes('/') ? parseInterfaceAddress(text).address : parseAddress(text);
}

const keptByWorkload = (address: string, pool: Pool, workload: string): PodwireError =>
  new PodwireError('ADDRESS_IN_USE', `${address} of pool ${pool.name} is kept for workload ${workload}`, {
    details: { address, pool: pool.name, owner: `workload ${workload}` },
  });
