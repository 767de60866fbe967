import { addressBits, formatAddress, parseAddress } from '@podwire/addresses';
import type { Allocation, CacheChange, Pool } from '@podwire/cluster-state';
import { describeError, PodwireError } from '@podwire/errors';
import type { BlockSource, Ipam, PoolSpec } from '@podwire/ipam';
import { orAborted, withDeadline } from '@podwire/platform';
import { recordOf } from './affinities/allocation-state.js';
import { blocksToTakeOver, takeOverBlock } from './affinities/takeover.js';
import { Background, type Step } from './background.js';
import { createBlockSource } from './blocks/block-source.js';
import type {
  AddressingStatus,
  BlockAffinity,
  Need,
  NodeAddressing,
  NodeAddressingOptions,
  PodAddresses,
  PodName,
} from './contract.js';
import { forEachTolerant } from './events.js';
import { confirmAffinities } from './fence.js';
import { createParts, type Parts } from './parts.js';

/** Milliseconds that a node without saved state waits for the first snapshot. */
const firstSnapshot = 5_000;

export const createNodeAddressing = (options: NodeAddressingOptions): NodeAddressing =>
  new StoreAddressing(options);

class StoreAddressing implements NodeAddressing {
  readonly #options: NodeAddressingOptions;
  readonly #parts: Parts;
  readonly #background: Background;
  readonly #stopped = new AbortController();
  readonly #listeners = new Set<() => void>();
  readonly #stopFollowing: () => void;
  #pools: ReadonlyMap<string, Pool> | undefined;
  #isSynced = false;
  #isStarted = false;
  /** There is a saved state of an earlier life. */
  #isResumed = false;

  constructor(options: NodeAddressingOptions) {
    const { cache } = options;
    this.#options = options;
    this.#parts = createParts({
      ...options,
      stopped: this.#stopped.signal,
      currentPools: () => this.#currentPools(),
      events: {
        changed: () => this.#changed(),
        report: (block) => this.#parts.reports.note(block),
        wake: () => this.#background.wake(),
      },
    });
    this.#background = this.#createBackground();
    this.#stopFollowing = cache.onChange((change) => this.#applyChange(change));
    cache.synced.then(
      () => this.#applySnapshot(),
      () => undefined,
    );
  }

  async start(
    inUse: readonly { readonly address: string; readonly owner: string; readonly since?: number }[],
    signal: AbortSignal,
  ): Promise<void> {
    const { state, imported, saver, reports } = this.#parts;
    // A cache that was synced before this was created has not called back yet.
    await Promise.resolve();
    this.#isResumed ||= !this.#isStarted && saver.resume();
    for (const { address, owner, since = this.#options.clock.now() } of inUse) {
      if (state.allocation(address) === undefined) state.use({ address, owner, since });
      // IPAM must know them before the first borrow request, which may arrive at once.
      imported.adoptInUse(owner, { address, owner, since });
    }
    for (const entry of imported.all()) {
      state.use(entry);
      imported.adoptLease(entry);
    }
    if (!this.#isSynced && !this.#isResumed) await this.#waitForStore(signal);
    this.#isStarted = true;
    if (this.#isSynced) {
      this.#syncWithCache();
      await this.#firstRound(signal);
    }
    this.#background.start();
    reports.start();
  }

  pools(network: string): readonly PoolSpec[] {
    const { pools } = this.#parts;
    return pools.ofNetwork(network).map((pool) => pools.toSpec(pool));
  }

  attach(network: string, ipam: Ipam): void {
    const { ipams, imported, state, sync, workloads } = this.#parts;
    ipams.set(network, ipam);
    for (const [address, workload] of workloads.kept(network)) ipam.keep(address, workload);
    for (const entry of imported.all()) imported.adoptLease(entry);
    for (const { cidr } of state.blocks()) {
      const block = this.#options.cache.blocks.get(cidr)?.value;
      if (block !== undefined) sync.syncGranted(block);
    }
    this.#background.wake();
  }

  source(network: string): BlockSource {
    const onTaken = (): void => this.#background.wake();
    return createBlockSource({ ...this.#parts, clock: this.#options.clock, onTaken }, network);
  }

  async provide(need: Need, signal: AbortSignal): Promise<void> {
    this.requireUnfenced();
    await this.#parts.provider.provide(need, signal);
  }

  requireUnfenced(): void {
    const { fence } = this.#parts;
    if (!this.#isStarted) throw new PodwireError('AGENT_NOT_READY', 'the node does not know its blocks yet');
    // After a jump of the wall clock one confirmation is enough, and no timer is due.
    if (fence.isFenced) this.#background.wake();
    fence.requireUnfenced();
  }

  hasWorkload(network: string, pod: PodName): boolean {
    return this.#parts.workloadAddresses.has(network, pod);
  }

  async addressesFor(
    network: string,
    pod: PodName,
    families: readonly (4 | 6)[],
    signal: AbortSignal,
  ): Promise<PodAddresses | undefined> {
    this.requireUnfenced();
    return this.#parts.workloadAddresses.addressesFor(network, pod, families, signal);
  }

  noteAssigned(network: string, pod: PodName, addresses: readonly string[]): void {
    this.#parts.workloadAddresses.note(network, pod, addresses);
    this.#background.wake();
  }

  noteUnassigned(network: string, pod: PodName): void {
    if (!this.hasWorkload(network, pod)) return;
    this.#parts.workloadAddresses.note(network, pod, undefined);
    this.#background.wake();
  }

  noteUsed(allocation: Allocation): void {
    const { state, imported, reports } = this.#parts;
    const affinity = state.use(allocation);
    imported.forget(allocation.address);
    if (affinity === undefined) return;
    reports.note(recordOf(affinity));
    // More than half of it is in use: the next block is claimed now.
    const { family, length } = affinity.prefix;
    if (affinity.used * 2 >= 2 ** (addressBits(family) - length)) this.#background.wake();
  }

  noteFree(address: string): void {
    const { state, index, reports } = this.#parts;
    const parsed = parseAddress(address);
    if (state.allocation(formatAddress(parsed)) === undefined) return;
    const affinity = state.free(address);
    // The record of a block that was lost still lists the address.
    const block = affinity === undefined ? index.around(parsed) : recordOf(affinity);
    if (block !== undefined) reports.note(block);
  }

  affinities(): readonly BlockAffinity[] {
    return [...this.#parts.state.all()]
      .filter(({ state }) => state !== 'pendingDeletion')
      .map(({ cidr, state }) => ({ cidr, state }));
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  flush(signal: AbortSignal): Promise<void> {
    return this.#parts.reports.flush(signal);
  }

  status(): AddressingStatus {
    const { fence, state, reports, problems } = this.#parts;
    return {
      connected: this.#options.cache.connected,
      confirmedAt: fence.confirmedAt,
      fenced: fence.isFenced,
      affinities: [...state.all()].map(({ cidr, state: phase }) => ({ cidr, state: phase })),
      unreported: reports.unreported,
      problems: [...problems.values(), ...this.#describeOrphans()],
    };
  }

  async stop(): Promise<void> {
    const reason = new PodwireError('AGENT_NOT_READY', 'the agent is stopping');
    this.#stopped.abort(reason);
    this.#stopFollowing();
    await Promise.all([this.#background.ended(), this.#parts.reports.stop(reason)]);
  }

  #currentPools(): ReadonlyMap<string, Pool> {
    if (!this.#isSynced) return this.#parts.saver.pools;
    this.#pools ??= new Map([...this.#options.cache.pools].map(([name, { value }]) => [name, value]));
    return this.#pools;
  }

  /** @throws PodwireError RECORD_IO */
  #changed(): void {
    if (this.#isStarted) this.#save();
    this.#announce();
  }

  #save(): void {
    const { saver, problems } = this.#parts;
    try {
      saver.save();
      problems.delete('file');
    } catch (err) {
      problems.set('file', describeError(err));
      throw err;
    }
  }

  #announce(): void {
    this.#background.wake();
    for (const listener of [...this.#listeners]) {
      try {
        listener();
      } catch (err) {
        this.#options.log.error({ err }, 'a listener to the node’s addressing failed');
      }
    }
  }

  /** As {@link #changed}, for events that have no caller. */
  #changedByEvent(): void {
    try {
      this.#changed();
    } catch (err) {
      this.#options.log.error({ err }, 'the node’s addressing state could not be saved');
      this.#announce();
    }
  }

  #applyChange(change: CacheChange): void {
    const { index, workloads, sync, grants, borrower } = this.#parts;
    if (change.pools.size > 0) this.#pools = undefined;
    index.take(change);
    workloads.update(change.workloads);
    if (!this.#isStarted || !this.#isSynced) return;
    const isChanged = sync.syncBlocks(change.blocks);
    for (const key of change.borrowRequests) grants.noteRequest(key);
    if ([...change.borrowRequests].some((key) => borrower.isAbandoned(key))) this.#background.wake();
    if (isChanged || change.pools.size > 0) this.#changedByEvent();
    else if (grants.hasRequests || !this.#options.cache.connected) this.#background.wake();
  }

  #applySnapshot(): void {
    if (this.#isSynced) return;
    const { cache } = this.#options;
    this.#isSynced = true;
    this.#pools = undefined;
    this.#parts.index.take({ pools: new Set(cache.pools.keys()), blocks: new Set(cache.blocks.keys()) });
    this.#parts.workloads.update(cache.workloads.keys());
    if (this.#isStarted) this.#syncWithCache();
  }

  /** The affinities become what the store has. */
  #syncWithCache(): void {
    const { sync, state, reports, grants, uncertain } = this.#parts;
    const { cache, clock } = this.#options;
    sync.syncAll();
    // No report has what ended while the agent was down, and one of an earlier life may still be under way.
    for (const affinity of state.all()) {
      reports.note(recordOf(affinity));
      uncertain.set(recordOf(affinity), clock.elapsed());
    }
    for (const key of cache.borrowRequests.keys()) grants.noteRequest(key);
    this.#changedByEvent();
  }

  #createBackground(): Background {
    const { timing, problems, store, fence, grants, releases, borrower, imported, reports } = this.#parts;
    const { clock, log } = this.#options;
    return new Background({
      clock,
      log,
      timing,
      problems,
      stopped: this.#stopped.signal,
      isSynced: () => this.#isSynced,
      isRegistered: () => store.isRegistered,
      isConfirmed: () => store.isRegistered && !fence.isFenced,
      mustConfirm: () => fence.isFenced,
      confirm: async (signal) => {
        const isConfirmed = await confirmAffinities({ ...this.#parts, clock }, signal);
        if (isConfirmed) this.#changed();
        return isConfirmed;
      },
      resolveUncertainGrants: (signal) => grants.resolveUncertain(signal),
      steps: this.#steps(),
      tidySteps: [
        () => Promise.resolve(reports.repeatUncertain()),
        (signal) => releases.announceSurplus(signal),
        (signal) => borrower.returnUnused(signal),
        async (signal) => void (await imported.freeReleased(imported.blocks(), signal)),
      ],
      nextAt: () => releases.nextAt,
    });
  }

  #steps(): readonly Step[] {
    const { releases, borrower, grants, imported, spares, claims, workloadAddresses } = this.#parts;
    const { log } = this.#options;
    return [
      (signal) => this.#takeOver(signal),
      (signal) => imported.verifyBorrowed(signal),
      // Before grants: the address of a pod that has ended here may be requested for its successor on another node.
      (signal) => workloadAddresses.writePending(signal),
      (signal) => grants.answerRequests(signal),
      (signal) => borrower.withdrawAbandoned(signal),
      (signal) => this.#reclaim(signal),
      (signal) =>
        forEachTolerant(log, spares.poolsToClaim(), signal, (pool) => claims.claim(pool, undefined, signal)),
      async (signal) => {
        const claimed = this.#parts.state.blocks().filter(({ state }) => state === 'pending');
        await forEachTolerant(log, claimed, signal, ({ cidr }) =>
          releases.setState(cidr, 'confirmed', signal),
        );
      },
      (signal) => releases.releaseAnnounced(signal),
    ];
  }

  async #takeOver(signal: AbortSignal): Promise<void> {
    const { store } = this.#parts;
    const parts = { ...this.#options, ...this.#parts, store };
    await forEachTolerant(this.#options.log, blocksToTakeOver(store), signal, (block) =>
      takeOverBlock(parts, block, signal),
    );
  }

  /** Claims blocks that were lost while pods are in them, and that have no owner now. */
  async #reclaim(signal: AbortSignal): Promise<void> {
    const { state, index, pools, claims } = this.#parts;
    await forEachTolerant(this.#options.log, [...state.allocations()], signal, async (allocation) => {
      const address = parseAddress(allocation.address);
      if (state.around(address) !== undefined || index.around(address) !== undefined) return;
      const pool = pools.around(address);
      if (pool !== undefined) await claims.claim(pool.name, address, signal);
    });
  }

  /** Addresses in use here that lie in blocks of other nodes, by block. Looks at every address in use. */
  #describeOrphans(): string[] {
    const { state, index, store } = this.#parts;
    const orphans = new Map<string, string[]>();
    for (const { address, pod, owner } of state.allocations()) {
      const parsed = parseAddress(address);
      if (state.around(parsed) !== undefined) continue;
      const cidr = index.around(parsed);
      const node = cidr === undefined ? undefined : this.#options.cache.blocks.get(cidr)?.value.node;
      if (node === undefined || node === store.node) continue;
      const where = `block ${cidr} of node ${node}`;
      orphans.set(where, [...(orphans.get(where) ?? []), `${address} (${pod ?? owner})`]);
    }
    return [...orphans].map(
      ([where, who]) => `NODE_STATE_STALE: in use here, in ${where}: ${who.join(', ')}`,
    );
  }

  /** @throws PodwireError AGENT_NOT_READY */
  async #waitForStore(signal: AbortSignal): Promise<void> {
    const { clock, cache } = this.#options;
    const synced = (either: AbortSignal): Promise<void> => orAborted(cache.synced, either);
    await withDeadline(signal, firstSnapshot, synced, { clock }).catch(() => undefined);
    signal.throwIfAborted();
    if (this.#isSynced) return;
    throw new PodwireError(
      'AGENT_NOT_READY',
      'the store does not answer, and there is no saved state of an earlier life of this node',
    );
  }

  /** The node has a block before it is ready. With saved state, a failure is left to the background. */
  async #firstRound(signal: AbortSignal): Promise<void> {
    try {
      await this.#background.runOnce(signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!this.#isResumed && this.#parts.fence.isFenced) {
        throw new PodwireError('AGENT_NOT_READY', `the store does not answer: ${describeError(error)}`, {
          cause: error,
        });
      }
      this.#options.log.warn(
        { err: error },
        'the store could not be asked about the blocks; it is tried again',
      );
    }
  }
}
