/** What the node tells the store about addresses in use: a cache for people and for the controller, never waited for. */
import { parseAddress } from '@podwire/addresses';
import { type AllocationRecord, type Allocation, allocationRecordKind } from '@podwire/cluster-state';
import { describeError, PodwireError } from '@podwire/errors';
import { type Condition, encodeObject, isUncertain, type Revision, type Write } from '@podwire/store';
import { type Core, presenceCondition } from '../core.js';
import { checkImported } from '../holdings/imported.js';
import { readPresence } from '../trust/confirm.js';
import { writeAll } from '../calls.js';

export class Reports {
  readonly #core: Core;
  /** Blocks whose books have changed, and by how many changes. */
  readonly #dirty = new Map<string, number>();

  constructor(core: Core) {
    this.#core = core;
  }

  /** @param block as allocationRecords are called: of a borrowed address, the block that it lies in */
  note(block: string): void {
    this.#dirty.set(block, (this.#dirty.get(block) ?? 0) + 1);
  }

  /**
   * Reports again what an older report may have overwritten: the write behind an answer that never came can be done later.
   * Each block once, when nothing can be on its way any more.
   */
  repeatUncertain(): void {
    const { clock, timing, uncertainReports } = this.#core;
    for (const [block, sentAt] of uncertainReports) {
      if (clock.elapsed() - sentAt < timing.reportAgain) continue;
      uncertainReports.delete(block);
      this.#core.reportBooks(block);
    }
  }

  get unreported(): number {
    return [...this.#dirty.values()].reduce((sum, changes) => sum + changes, 0);
  }

  /**
   * One transaction with as many blocks as it holds.
   * @returns whether something is left that can be written. @throws as the store does; then all of it is left
   */
  async writeSome(signal: AbortSignal): Promise<boolean> {
    const core = this.#core;
    const due = this.#due();
    if (due.length === 0) return false;
    if (core.presence === undefined && !(await readPresence(core, signal))) throw notRegistered(core.node);
    const batch = due.slice(0, core.store.limits.operations - 1);
    const seen = await checkImported(core, new Set(batch.map(([block]) => block)), signal);
    const writes = this.#plan(batch.map(([block]) => block));
    const conditions = [presenceCondition(core), ...seenConditions(core, seen)];
    const written = await writeAll(core, { conditions, writes }, signal).catch((error: unknown) => {
      if (isUncertain(error) || signal.aborted) this.#noteUncertain(batch);
      throw error;
    });
    core.faults.reach('report:written');
    if (written === undefined) return true;
    for (const [block, changes] of batch) this.#settle(block, changes);
    return this.#due().length > 0;
  }

  /** Books that an import may have written say what is in use until they have been read: nothing is written over them. */
  #due(): [block: string, changes: number][] {
    const strange = this.#core.book.borrowed().filter((held) => held.isStrange === true);
    const unread = new Set(strange.map(({ lender }) => lender));
    return [...this.#dirty].filter(([block]) => !unread.has(block));
  }

  /** Also in the file: a life after this one may not have the block any more, and would not report it. */
  #noteUncertain(batch: readonly (readonly [block: string, changes: number])[]): void {
    const { clock, uncertainReports } = this.#core;
    for (const [block] of batch) uncertainReports.set(block, clock.elapsed());
    this.#core.changed();
  }

  /** What has changed again meanwhile stays. */
  #settle(block: string, changes: number): void {
    const left = (this.#dirty.get(block) ?? 0) - changes;
    if (left > 0) this.#dirty.set(block, left);
    else this.#dirty.delete(block);
  }

  #plan(blocks: readonly string[]): Write[] {
    const entries = groupEntries(this.#core);
    return blocks.map((cidr) => {
      const key = this.#core.keys.allocationRecord(cidr, this.#core.node);
      const used = entries.get(cidr) ?? [];
      if (used.length === 0) return { op: 'delete', key };
      return { op: 'put', key, value: this.#encode(cidr, used) };
    });
  }

  #encode(cidr: string, entries: readonly Allocation[]): string {
    const { node, clock, problems } = this.#core;
    const ledger: AllocationRecord = { cidr, node, entries: [...entries], reportedAt: clock.now() };
    try {
      const text = encodeObject(allocationRecordKind, ledger);
      problems.delete(`report ${cidr}`);
      return text;
    } catch (error) {
      // Names of pods are what makes it too long, and can be done without.
      problems.set(`report ${cidr}`, `the report of ${cidr} is cut: ${describeError(error)}`);
      const short = entries.map(({ address, owner, since }) => ({
        address,
        owner: owner.slice(0, 64),
        since,
      }));
      return encodeObject(allocationRecordKind, { ...ledger, entries: short });
    }
  }
}

/** By block, in order of their addresses; also of blocks that were lost while somebody is in them. One pass over all. */
function groupEntries({ book, index }: Core): ReadonlyMap<string, Allocation[]> {
  const groups = new Map<string, { entry: Allocation; value: bigint }[]>();
  for (const entry of book.entries()) {
    const address = parseAddress(entry.address);
    const held = book.around(address);
    const block = held === undefined ? index.around(address) : (held.lender ?? held.cidr);
    if (block === undefined) continue;
    const group = groups.get(block);
    const item = { entry, value: address.value };
    if (group === undefined) groups.set(block, [item]);
    else group.push(item);
  }
  return new Map(
    [...groups].map(([block, items]) => [
      block,
      items.sort((a, b) => (a.value < b.value ? -1 : 1)).map(({ entry }) => entry),
    ]),
  );
}

const seenConditions = ({ keys, node }: Core, seen: ReadonlyMap<string, Revision>): Condition[] =>
  [...seen].map(([cidr, expect]) => ({ key: keys.allocationRecord(cidr, node), expect }));

const notRegistered = (node: string): PodwireError =>
  new PodwireError('STORE_UNAVAILABLE', `node ${node} is not registered in the store yet`);
