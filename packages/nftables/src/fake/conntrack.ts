import type { Conntrack, ConntrackEntry, ConntrackFilter } from '../conntrack.js';
import { describeFilter, matches } from '../conntrack-codec.js';
import type { CallOptions } from '../nftables.js';
import { type Fault, Faults } from './faults.js';

/** A connection tracking table in memory. */
export class FakeConntrack implements Conntrack {
  readonly #faults = new Faults();
  #entries: readonly ConntrackEntry[] = [];

  /** Makes a coming call fail. */
  inject(fault: Fault): void {
    this.#faults.inject(fault);
  }

  /** Adds an entry, as traffic would. */
  addEntry(entry: ConntrackEntry): void {
    this.#entries = [...this.#entries, entry];
  }

  async deleteConntrack(filters: readonly ConntrackFilter[], { signal }: CallOptions = {}): Promise<void> {
    signal?.throwIfAborted();
    await Promise.resolve();
    const wanted = filters.map(matches);
    this.#faults.around('deleteConntrack', filters.map(describeFilter).join('; '), () => {
      this.#entries = this.#entries.filter((entry) => !wanted.some((isWanted) => isWanted(entry)));
    });
  }

  async deleteEntries(
    isWanted: (entry: ConntrackEntry) => boolean,
    { signal }: CallOptions = {},
  ): Promise<number> {
    signal?.throwIfAborted();
    await Promise.resolve();
    return this.#faults.around('deleteConntrack', 'conntrack entries', () => {
      const before = this.#entries.length;
      this.#entries = this.#entries.filter((entry) => !isWanted(entry));
      return before - this.#entries.length;
    });
  }

  listConntrack(filter?: ConntrackFilter): ConntrackEntry[] {
    const label = filter === undefined ? 'all conntrack entries' : describeFilter(filter);
    return this.#faults.around('listConntrack', label, () =>
      filter === undefined ? [...this.#entries] : this.#entries.filter(matches(filter)),
    );
  }

  close(): void {
    this.#entries = [];
  }
}

/** An empty fake. */
export function createFakeConntrack(): FakeConntrack {
  return new FakeConntrack();
}
