import {
  newestFirst,
  nothingObserved,
  type ObservedContainer,
  type ObservedPod,
  type ObservedSandbox,
} from '../lifecycle/observed.js';
import type { ContainerEnd, PodLabels } from './labels.js';

/** One sandbox or one container. */
export interface CacheEntry {
  readonly id: string;
  readonly uid: string;
  readonly sandbox?: ObservedSandbox;
  readonly container?: ObservedContainer;
  readonly end?: ContainerEnd;
}

interface Slot {
  entry: CacheEntry;
  /** Of the answer. */
  sequence: number;
  marked: number;
}

interface Group {
  labels: PodLabels;
  readonly ids: Set<string>;
  /** Built when it is asked for. */
  observed: ObservedPod | undefined;
}

/** Sandboxes and containers by pod and by id. Questions are numbered; see RuntimeView. */
export class PodCache {
  readonly #slots = new Map<string, Slot>();
  readonly #groups = new Map<string, Group>();
  /** Sequences of removals, so that an answer which was under way does not bring the thing back. */
  readonly #removals = new Map<string, number>();
  #last = 0;

  /** The number of a question that is asked now. */
  nextSequence(): number {
    return ++this.#last;
  }

  find(id: string): CacheEntry | undefined {
    return this.#slots.get(id)?.entry;
  }

  put(entry: CacheEntry, labels: PodLabels, sequence: number): void {
    if (this.#isOutdated(entry.id, sequence)) return;
    const slot = this.#slots.get(entry.id);
    this.#slots.set(entry.id, { entry, sequence, marked: slot?.marked ?? 0 });
    const group = this.#groups.get(entry.uid) ?? { labels, ids: new Set<string>(), observed: undefined };
    group.ids.add(entry.id);
    // Containers know the grace period, sandboxes do not.
    group.labels = { ...group.labels, ...labels };
    group.observed = undefined;
    this.#groups.set(entry.uid, group);
  }

  remove(id: string, sequence: number): void {
    if (this.#isOutdated(id, sequence)) return;
    this.#removals.set(id, sequence);
    const slot = this.#slots.get(id);
    if (slot === undefined) return;
    this.#slots.delete(id);
    const group = this.#groups.get(slot.entry.uid)!;
    group.ids.delete(id);
    group.observed = undefined;
    if (group.ids.size === 0) this.#groups.delete(slot.entry.uid);
  }

  /** Notes that a listing has it. @returns what is known of it */
  mark(id: string, sequence: number): CacheEntry | undefined {
    const slot = this.#slots.get(id);
    if (slot !== undefined) slot.marked = sequence;
    return slot?.entry;
  }

  /** Everything that was neither marked nor answered since the sequence. */
  unmarked(sequence: number): CacheEntry[] {
    for (const [id, removedAt] of this.#removals) if (removedAt < sequence) this.#removals.delete(id);
    return [...this.#slots.values()]
      .filter((slot) => slot.marked < sequence && slot.sequence < sequence)
      .map(({ entry }) => entry);
  }

  removeOthers(uid: string, listed: ReadonlySet<string>, sequence: number): void {
    for (const id of [...(this.#groups.get(uid)?.ids ?? [])]) if (!listed.has(id)) this.remove(id, sequence);
  }

  observed(uid: string): ObservedPod {
    const group = this.#groups.get(uid);
    if (group === undefined) return nothingObserved;
    group.observed ??= assemble([...group.ids].flatMap((id) => this.find(id) ?? []));
    return group.observed;
  }

  labels(uid: string): PodLabels | undefined {
    return this.#groups.get(uid)?.labels;
  }

  uids(): Iterable<string> {
    return this.#groups.keys();
  }

  #isOutdated(id: string, sequence: number): boolean {
    return sequence < (this.#slots.get(id)?.sequence ?? 0) || sequence < (this.#removals.get(id) ?? 0);
  }
}

function assemble(entries: readonly CacheEntry[]): ObservedPod {
  return {
    sandboxes: entries.flatMap(({ sandbox }) => sandbox ?? []).sort(newestFirst),
    containers: entries.flatMap(({ container }) => container ?? []).sort(newestFirst),
  };
}
