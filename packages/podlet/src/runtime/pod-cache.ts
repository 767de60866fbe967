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

/** Sandboxes and containers by pod and by id. Questions are numbered; see RuntimeView. */
export interface PodCache {
  /** The number of a question that is asked now. */
  nextSequence(): number;
  find(id: string): CacheEntry | undefined;
  put(entry: CacheEntry, labels: PodLabels, sequence: number): void;
  remove(id: string, sequence: number): void;
  /** Notes that a listing has it. @returns what is known of it */
  mark(id: string, sequence: number): CacheEntry | undefined;
  /** Everything that was neither marked nor answered since the sequence. */
  unmarked(sequence: number): CacheEntry[];
  removeOthers(uid: string, listed: ReadonlySet<string>, sequence: number): void;
  observed(uid: string): ObservedPod;
  labels(uid: string): PodLabels | undefined;
  uids(): Iterable<string>;
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

export function createPodCache(): PodCache {
  const slots = new Map<string, Slot>();
  const groups = new Map<string, Group>();
  /** Removed things, so that an answer which was under way does not bring them back. */
  const tombstones = new Map<string, number>();
  let last = 0;

  const isOutdated = (id: string, sequence: number) =>
    sequence < (slots.get(id)?.sequence ?? 0) || sequence < (tombstones.get(id) ?? 0);

  const drop = (id: string, slot: Slot) => {
    const group = groups.get(slot.entry.uid);
    slots.delete(id);
    group?.ids.delete(id);
    if (group !== undefined) group.observed = undefined;
    if (group?.ids.size === 0) groups.delete(slot.entry.uid);
  };

  const remove = (id: string, sequence: number) => {
    if (isOutdated(id, sequence)) return;
    tombstones.set(id, sequence);
    const slot = slots.get(id);
    if (slot !== undefined) drop(id, slot);
  };

  const put = (entry: CacheEntry, labels: PodLabels, sequence: number) => {
    if (isOutdated(entry.id, sequence)) return;
    const slot = slots.get(entry.id);
    slots.set(entry.id, { entry, sequence, marked: slot?.marked ?? 0 });
    const group = groups.get(entry.uid) ?? { labels, ids: new Set<string>(), observed: undefined };
    group.ids.add(entry.id);
    // Containers know the grace period, sandboxes do not.
    group.labels = { ...group.labels, ...labels };
    group.observed = undefined;
    groups.set(entry.uid, group);
  };

  return {
    nextSequence: () => ++last,
    find: (id) => slots.get(id)?.entry,
    put,
    remove,
    mark(id, sequence) {
      const slot = slots.get(id);
      if (slot !== undefined) slot.marked = sequence;
      return slot?.entry;
    },
    unmarked(sequence) {
      for (const [id, removedAt] of tombstones) if (removedAt < sequence) tombstones.delete(id);
      const gone: CacheEntry[] = [];
      for (const slot of slots.values()) {
        if (slot.marked < sequence && slot.sequence < sequence) gone.push(slot.entry);
      }
      return gone;
    },
    removeOthers(uid, listed, sequence) {
      for (const id of [...(groups.get(uid)?.ids ?? [])]) if (!listed.has(id)) remove(id, sequence);
    },
    observed(uid) {
      const group = groups.get(uid);
      if (group === undefined) return nothingObserved;
      group.observed ??= assemble([...group.ids].flatMap((id) => slots.get(id)?.entry ?? []));
      return group.observed;
    },
    labels: (uid) => groups.get(uid)?.labels,
    uids: () => groups.keys(),
  };
}

function assemble(entries: readonly CacheEntry[]): ObservedPod {
  return {
    sandboxes: entries.flatMap(({ sandbox }) => sandbox ?? []).sort(newestFirst),
    containers: entries.flatMap(({ container }) => container ?? []).sort(newestFirst),
  };
}
