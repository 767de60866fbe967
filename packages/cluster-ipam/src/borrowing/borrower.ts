/** The borrower's side: a node without a free block asks the owners of blocks for single addresses. */
import { type BorrowRequest, borrowRequestKind, type ClusterCache, type Pool } from '@podwire/cluster-state';
import { type Clock, compact, type FaultPoints, type Log, waitUntil, withDeadline } from '@podwire/platform';
import { encodeObject } from '@podwire/store';
import { type Affinity, type AllocationState, cidrOfAddress } from '../affinities/allocation-state.js';
import type { BlockIndex } from '../blocks/block-index.js';
import type { BlockReleases } from '../blocks/release.js';
import type { ClusterStore } from '../cluster-store.js';
import { type AddressingEvents, forEachTolerant } from '../events.js';

export type BorrowOutcome =
  | { readonly kind: 'granted' }
  /** In the owner's words. */
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'no-answer' };

/** How many owners are asked for any address. */
const ownersToAsk = 6;
/** Milliseconds in which an owner that has refused is not asked for any address again. */
const refusalBackoff = 10_000;

export interface BorrowerOptions {
  readonly store: ClusterStore;
  readonly cache: ClusterCache;
  readonly state: AllocationState;
  readonly index: BlockIndex;
  readonly releases: BlockReleases;
  readonly events: AddressingEvents;
  readonly clock: Clock;
  readonly random: (bytes: number) => Uint8Array;
  readonly faults: FaultPoints;
  readonly log: Log;
  readonly stopped: AbortSignal;
  /** Milliseconds for the owner's answer. */
  readonly answerDeadline: number;
  /** Milliseconds for which an unused borrowed address is kept. */
  readonly keepUnused: number;
}

export class Borrower {
  readonly #options: BorrowerOptions;
  /** Keys of requests that an ADD waits for. */
  readonly #waiting = new Set<string>();
  /** Blocks whose owners refused, until this elapsed time. */
  readonly #refusedUntil = new Map<string, number>();

  constructor(options: BorrowerOptions) {
    this.#options = options;
  }

  /** Asks the owner of the block for this address of it, or any. @throws as the store does */
  async borrow(block: string, address: string | undefined, signal: AbortSignal): Promise<BorrowOutcome> {
    const { store, cache, state, clock, random } = this.#options;
    const { node } = store;
    const before = new Set(this.#borrowedOf(block));
    const isGranted = (): boolean =>
      address === undefined
        ? this.#borrowedOf(block).some((cidr) => !before.has(cidr))
        : state.get(cidrOfAddress(address)) !== undefined;
    const key = store.keys.borrowRequest(block, node, Buffer.from(random(6)).toString('hex'));
    let why: string | undefined;
    const isAnswered = (): boolean => {
      why ??= cache.borrowRequests.get(key)?.value.refused;
      return why !== undefined || isGranted();
    };
    const request: BorrowRequest = compact({ block, node, askedAt: clock.now(), address });
    await this.#ask(key, request, isAnswered, signal);
    if (isGranted()) return { kind: 'granted' };
    return why === undefined ? { kind: 'no-answer' } : { kind: 'refused', why };
  }

  /** Writes the request, waits for the answer and withdraws the request. */
  async #ask(
    key: string,
    request: BorrowRequest,
    isAnswered: () => boolean,
    signal: AbortSignal,
  ): Promise<void> {
    const { store, cache, clock, faults, answerDeadline } = this.#options;
    this.#waiting.add(key);
    try {
      const writes = [{ op: 'put', key, value: encodeObject(borrowRequestKind, request) }] as const;
      await store.transact({ conditions: [{ key, expect: 'absent' }], writes }, signal);
      faults.reach('borrow:asked');
      const wait = (either: AbortSignal): Promise<void> =>
        waitUntil(isAnswered, (listener) => cache.onChange(listener), either);
      await withDeadline(signal, answerDeadline, wait, { clock }).catch((error: unknown) => {
        if (signal.aborted) throw error;
      });
    } finally {
      // From here on the request cannot be granted: a grant expects the request to exist.
      this.#waiting.delete(key);
      await this.#tryToWithdraw(key);
    }
  }

  #borrowedOf(block: string): string[] {
    const borrowed = this.#options.state.borrowed();
    return borrowed.flatMap(({ cidr, borrowedFrom }) => (borrowedFrom === block ? [cidr] : []));
  }

  /** Also after the ADD's deadline. A request that stays, or arrives later, is removed by {@link withdrawAbandoned}. */
  async #tryToWithdraw(key: string): Promise<void> {
    const { log, events, stopped } = this.#options;
    try {
      await this.#withdraw(key, stopped);
    } catch (err) {
      log.debug({ key, err }, 'a borrow request could not be withdrawn; it is tried again');
      events.wake();
    }
  }

  async #withdraw(key: string, signal: AbortSignal): Promise<void> {
    const { store, cache } = this.#options;
    const outcome = await store.transact({ conditions: [], writes: [{ op: 'delete', key }] }, signal);
    if (outcome.committed) cache.noteGone(key, outcome.revision);
  }

  /** Reports if no ADD waits for this request: the store was away at its end, or an earlier life has asked. */
  isAbandoned(key: string): boolean {
    const { store, cache } = this.#options;
    return cache.borrowRequests.get(key)?.value.node === store.node && !this.#waiting.has(key);
  }

  /** @throws as the store does */
  async withdrawAbandoned(signal: AbortSignal): Promise<void> {
    const { cache, log } = this.#options;
    const abandoned = [...cache.borrowRequests.keys()].filter((key) => this.isAbandoned(key));
    await forEachTolerant(log, abandoned, signal, (key) => this.#withdraw(key, signal));
  }

  /** Any address of other nodes' blocks in these pools. @throws as the store does */
  async borrowAny(pools: readonly Pool[], signal: AbortSignal): Promise<boolean> {
    for (const cidr of this.#candidates(pools)) {
      const { kind } = await this.borrow(cidr, undefined, signal);
      if (kind === 'granted') return true;
      this.#refusedUntil.set(cidr, this.#options.clock.elapsed() + refusalBackoff);
    }
    return false;
  }

  /** Some blocks of other nodes, at random; not those whose owners have just refused. */
  #candidates(pools: readonly Pool[]): string[] {
    const { clock, index, random } = this.#options;
    const now = clock.elapsed();
    for (const [cidr, until] of this.#refusedUntil) if (until <= now) this.#refusedUntil.delete(cidr);
    const others = pools.flatMap(({ name }) =>
      [...index.blocks(name)].filter((cidr) => !this.#refusedUntil.has(cidr) && this.#isOthers(cidr)),
    );
    const [high = 0, low = 0] = random(2);
    const start = others.length === 0 ? 0 : (high * 256 + low) % others.length;
    return [...others.slice(start), ...others.slice(0, start)].slice(0, ownersToAsk);
  }

  #isOthers(cidr: string): boolean {
    const { store, cache } = this.#options;
    const block = cache.blocks.get(cidr)?.value;
    return block?.node !== undefined && block.node !== store.node && block.state !== 'pendingDeletion';
  }

  /** Returns borrowed addresses that are not in use any more. @throws as the store does; RECORD_IO */
  async returnUnused(signal: AbortSignal): Promise<void> {
    const { state, clock, keepUnused, log } = this.#options;
    const now = clock.elapsed();
    await forEachTolerant(log, state.borrowed(), signal, async (affinity) => {
      // An unverified one may be in use by a pod that only the store's records have.
      const isUnused = !affinity.isOpen && affinity.isUnverified !== true && affinity.used === 0;
      const isDue = isUnused && now - affinity.since >= keepUnused;
      if (isDue || affinity.state === 'pendingDeletion') await this.#return(affinity, signal);
    });
  }

  async #return(affinity: Affinity, signal: AbortSignal): Promise<void> {
    const { store, cache, releases, faults } = this.#options;
    const stored = cache.blocks.get(affinity.borrowedFrom!);
    if (stored === undefined) return;
    if (affinity.state !== 'pendingDeletion') releases.markForRelease(affinity);
    const { value } = stored;
    const loans = value.loans.filter(
      ({ address, node }) => node !== store.node || cidrOfAddress(address) !== affinity.cidr,
    );
    const isEmpty = value.node === undefined && loans.length === 0;
    await store.replaceBlock(stored, isEmpty ? undefined : { ...value, loans }, signal);
    faults.reach('borrow:returned');
  }
}
