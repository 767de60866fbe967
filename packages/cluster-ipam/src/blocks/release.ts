/** Releases blocks: announced first, so that no node routes to this one when the next owner begins. */
import type { Block, ClusterCache, Stored } from '@podwire/cluster-state';
import type { Ipam } from '@podwire/ipam';
import type { Clock, FaultPoints, Log } from '@podwire/platform';
import type { Affinity, AllocationState } from '../affinities/allocation-state.js';
import type { ClusterStore } from '../cluster-store.js';
import { type AddressingEvents, forEachTolerant, withoutOwner } from '../events.js';
import type { SpareBlocks } from './spares.js';

export interface BlockReleasesOptions {
  readonly store: ClusterStore;
  readonly cache: ClusterCache;
  readonly state: AllocationState;
  readonly spares: SpareBlocks;
  readonly ipams: ReadonlyMap<string, Ipam>;
  readonly events: AddressingEvents;
  readonly clock: Clock;
  readonly faults: FaultPoints;
  readonly log: Log;
  /** Milliseconds from the announcement to the release. */
  readonly delay: number;
}

export class BlockReleases {
  readonly #options: BlockReleasesOptions;

  constructor(options: BlockReleasesOptions) {
    this.#options = options;
  }

  /** Takes empty blocks from IPAM, and announces the release of surplus ones. @throws as the store does; RECORD_IO */
  async announceSurplus(signal: AbortSignal): Promise<void> {
    const { ipams, spares, faults } = this.#options;
    for (const ipam of ipams.values()) ipam.releaseEmptyBlocks();
    // Computed again each time: while one is announced, IPAM may take another spare.
    for (let next = spares.surplus()[0]; next !== undefined; next = spares.surplus()[0]) {
      this.markForRelease(next);
      faults.reach('release:announced');
      await this.setState(next.cidr, 'pendingDeletion', signal);
    }
  }

  /** In the saved state first: the next life must not allocate from it without asking the store. @throws RECORD_IO */
  markForRelease(affinity: Affinity): void {
    const { state, since } = affinity;
    affinity.state = 'pendingDeletion';
    affinity.since = this.#options.clock.elapsed();
    try {
      this.#options.events.changed();
    } catch (error) {
      affinity.state = state;
      affinity.since = since;
      throw error;
    }
  }

  /** Elapsed milliseconds at which the next announced block can be released; Infinity without any. */
  get nextAt(): number {
    const announced = this.#options.state.blocks().filter(({ state }) => state === 'pendingDeletion');
    return Math.min(...announced.map(({ since }) => since + this.#options.delay));
  }

  /** @throws as the store does */
  async releaseAnnounced(signal: AbortSignal): Promise<void> {
    const { state, clock, delay, log } = this.#options;
    const now = clock.elapsed();
    const due = state
      .blocks()
      .filter(({ state: phase, since }) => phase === 'pendingDeletion' && now - since >= delay);
    await forEachTolerant(log, due, signal, (affinity) =>
      // IPAM may have the block again, when an announcement of an earlier life was still under way.
      affinity.used > 0 || affinity.isOpen ? this.#keep(affinity, signal) : this.#release(affinity, signal),
    );
  }

  /** The block is written in any case, so that a release that is still under way finds another revision. */
  async #keep(affinity: Affinity, signal: AbortSignal): Promise<void> {
    const stored = this.#ownBlock(affinity.cidr);
    if (stored === undefined || !(await this.#putState(stored, 'confirmed', signal))) return;
    affinity.state = 'confirmed';
    this.#options.events.changed();
  }

  async #release({ cidr }: Affinity, signal: AbortSignal): Promise<void> {
    const { store, faults } = this.#options;
    const stored = this.#ownBlock(cidr);
    if (stored === undefined) return;
    const { value } = stored;
    const rest = value.loans.length === 0 ? undefined : withoutOwner(value, value.loans);
    const record = { op: 'delete', key: store.keys.allocationRecord(cidr, store.node) } as const;
    await store.replaceBlock(stored, rest, signal, {
      conditions: [store.leaseCondition()],
      writes: [record],
    });
    faults.reach('release:written');
  }

  /** @returns whether the block in the store has the state. @throws as the store does */
  async setState(cidr: string, state: Block['state'], signal: AbortSignal): Promise<boolean> {
    const stored = this.#ownBlock(cidr);
    if (stored === undefined) return false;
    return stored.value.state === state || (await this.#putState(stored, state, signal));
  }

  #ownBlock(cidr: string): Stored<Block> | undefined {
    const { store, cache } = this.#options;
    const stored = cache.blocks.get(cidr);
    return store.owns(stored?.value) ? stored : undefined;
  }

  #putState(stored: Stored<Block>, state: Block['state'], signal: AbortSignal): Promise<boolean> {
    const { store } = this.#options;
    const conditions = [store.leaseCondition()];
    return store.replaceBlock(stored, { ...stored.value, state }, signal, { conditions });
  }
}
