/** Reports the addresses in use as allocation records: for users and the controller, in the background. */
import { parseAddress } from '@podwire/addresses';
import { type Allocation, type AllocationRecord, allocationRecordKind } from '@podwire/cluster-state';
import { describeError, PodwireError } from '@podwire/errors';
import { type Clock, type FaultPoints, KeyedMutex, type Log, Workqueue } from '@podwire/platform';
import { type Condition, encodeObject, isUncertain, type Revision, type Write } from '@podwire/store';
import { type AllocationState, recordOf } from './affinities/allocation-state.js';
import type { ImportedAddresses } from './affinities/imported.js';
import type { BlockIndex } from './blocks/block-index.js';
import type { ClusterStore } from './cluster-store.js';
import type { Timing } from './contract.js';
import { type AddressingEvents, noteRefusal, type Problems } from './events.js';

export interface ReportsOptions {
  readonly store: ClusterStore;
  readonly state: AllocationState;
  readonly index: BlockIndex;
  readonly imported: ImportedAddresses;
  readonly events: AddressingEvents;
  readonly problems: Problems;
  readonly clock: Clock;
  readonly faults: FaultPoints;
  readonly log: Log;
  readonly timing: Timing;
  /** Milliseconds in which changes are gathered. */
  readonly delay: number;
  /** Blocks with an uncertain report, and the elapsed time at which it was sent. */
  readonly uncertain: Map<string, number>;
}

const topic = 'reports';

export class Reports {
  readonly #options: ReportsOptions;
  /** Blocks with unreported changes, and how many. */
  readonly #dirty = new Map<string, number>();
  readonly #mutex = new KeyedMutex();
  readonly #queue: Workqueue<typeof topic>;
  #isStarted = false;

  constructor(options: ReportsOptions) {
    this.#options = options;
    const { clock, delay, log, problems, timing } = options;
    this.#queue = new Workqueue({
      reconcile: async (_, signal) => {
        await this.flush(signal);
        noteRefusal(problems, topic, undefined);
      },
      onError: (err) => {
        noteRefusal(problems, topic, err);
        log.debug({ err }, 'the report did not reach the store; it is tried again');
      },
      clock,
      delay,
      backoff: { first: Math.max(delay, timing.firstPause), longest: Math.max(delay, timing.lastPause) },
      holdBackoff: true,
    });
  }

  start(): void {
    this.#isStarted = true;
    if (this.#dirty.size > 0) this.#queue.add(topic);
  }

  /** @param block of a borrowed address, the block that it lies in */
  note(block: string): void {
    this.#dirty.set(block, (this.#dirty.get(block) ?? 0) + 1);
    if (this.#isStarted) this.#queue.add(topic);
  }

  /** How many changes have not been reported. */
  get unreported(): number {
    return [...this.#dirty.values()].reduce((sum, changes) => sum + changes, 0);
  }

  stop(reason: unknown): Promise<void> {
    return this.#queue.stop(reason);
  }

  /**
   * Reports once more the blocks with an uncertain report: its write may have been executed after a later one. Each once, when no
   * write can be under way any more.
   */
  repeatUncertain(): void {
    const { clock, timing, uncertain } = this.#options;
    for (const [block, sentAt] of uncertain) {
      if (clock.elapsed() - sentAt < timing.reportAgain) continue;
      uncertain.delete(block);
      this.note(block);
    }
  }

  /** Reports everything. @throws as the store does */
  flush(signal: AbortSignal): Promise<void> {
    return this.#mutex.withAll(signal, async () => {
      while (await this.#writeSome(signal));
    });
  }

  /**
   * Writes one transaction.
   * @returns whether something is left that can be written. @throws as the store does; then all of it is left
   */
  async #writeSome(signal: AbortSignal): Promise<boolean> {
    const { store, imported, faults } = this.#options;
    const due = this.#due();
    if (due.length === 0) return false;
    if (!store.isRegistered && !(await store.readLease(signal))) throw notRegistered(store.node);
    const batch = due.slice(0, store.operations - 1);
    const blocks = batch.map(([block]) => block);
    const seen = await imported.freeReleased(new Set(blocks), signal);
    const writes = this.#plan(blocks);
    const conditions = [store.leaseCondition(), ...this.#seenConditions(seen)];
    const written = await store.write({ conditions, writes }, signal).catch((error: unknown) => {
      if (isUncertain(error) || signal.aborted) this.#noteUncertain(blocks);
      throw error;
    });
    faults.reach('report:written');
    if (written === undefined) return true;
    for (const [block, changes] of batch) this.#settle(block, changes);
    return this.#due().length > 0;
  }

  /** Not the records that an import may have written, until they have been read. */
  #due(): [block: string, changes: number][] {
    const unverified = this.#options.state.borrowed().filter(({ isUnverified }) => isUnverified === true);
    const unread = new Set(unverified.map(recordOf));
    return [...this.#dirty].filter(([block]) => !unread.has(block));
  }

  /** Also in the saved state: the next life may not own the block any more, and would not report it. */
  #noteUncertain(blocks: readonly string[]): void {
    const { clock, uncertain, events } = this.#options;
    for (const block of blocks) uncertain.set(block, clock.elapsed());
    events.changed();
  }

  /** Changes that were noted meanwhile stay. */
  #settle(block: string, changes: number): void {
    const left = (this.#dirty.get(block) ?? 0) - changes;
    if (left > 0) this.#dirty.set(block, left);
    else this.#dirty.delete(block);
  }

  #seenConditions(seen: ReadonlyMap<string, Revision>): Condition[] {
    const { store } = this.#options;
    return [...seen].map(([cidr, expect]) => ({
      key: store.keys.allocationRecord(cidr, store.node),
      expect,
    }));
  }

  #plan(blocks: readonly string[]): Write[] {
    const { store } = this.#options;
    const allocations = this.#allocationsByBlock();
    return blocks.map((cidr) => {
      const key = store.keys.allocationRecord(cidr, store.node);
      const used = allocations.get(cidr) ?? [];
      if (used.length === 0) return { op: 'delete', key };
      return { op: 'put', key, value: this.#encode(cidr, used) };
    });
  }

  /** In order of addresses; also of blocks that were lost while pods are in them. One pass over all addresses. */
  #allocationsByBlock(): ReadonlyMap<string, Allocation[]> {
    const { state, index } = this.#options;
    const groups = new Map<string, { allocation: Allocation; value: bigint }[]>();
    for (const allocation of state.allocations()) {
      const address = parseAddress(allocation.address);
      const affinity = state.around(address);
      const block = affinity === undefined ? index.around(address) : recordOf(affinity);
      if (block === undefined) continue;
      const group = groups.get(block);
      const item = { allocation, value: address.value };
      if (group === undefined) groups.set(block, [item]);
      else group.push(item);
    }
    return new Map(
      [...groups].map(([block, items]) => [
        block,
        items.sort((a, b) => (a.value < b.value ? -1 : 1)).map(({ allocation }) => allocation),
      ]),
    );
  }

  #encode(cidr: string, entries: readonly Allocation[]): string {
    const { store, clock, problems } = this.#options;
    const record: AllocationRecord = {
      cidr,
      node: store.node,
      entries: [...entries],
      reportedAt: clock.now(),
    };
    try {
      const text = encodeObject(allocationRecordKind, record);
      problems.delete(`report ${cidr}`);
      return text;
    } catch (error) {
      // The names of pods make it too long, and can be left out.
      problems.set(`report ${cidr}`, `the report of ${cidr} is cut: ${describeError(error)}`);
      const short = entries.map(({ address, owner, since }) => ({
        address,
        owner: owner.slice(0, 64),
        since,
      }));
      return encodeObject(allocationRecordKind, { ...record, entries: short });
    }
  }
}

const notRegistered = (node: string): PodwireError =>
  new PodwireError('STORE_UNAVAILABLE', `node ${node} is not registered in the store yet`);
