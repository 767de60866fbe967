import {
  newestFirst,
  nothingObserved,
  type ObservedContainer,
  type ObservedPod,
  type ObservedSandbox,
} from '../lifecycle/observed.js';
import type { ContainerEnd, PodMarks } from './marks.js';

/** One sandbox or one container. */
export interface TableEntry {
  readonly id: string;
  readonly uid: string;
  readonly sandbox?: ObservedSandbox;
  readonly container?: ObservedContainer;
  readonly end?: ContainerEnd;
}

/** Sandboxes and containers by pod and by id. Questions are numbered; see RuntimeView. */
export interface PodTable {
  /** The number of a question that is asked now. */
  question(): number;
  find(id: string): TableEntry | undefined;
  put(entry: TableEntry, marks: PodMarks, question: number): void;
  remove(id: string, question: number): void;
  /** Notes that a listing has it. @returns what is known of it */
  mark(id: string, question: number): TableEntry | undefined;
  /** Everything that was neither marked nor answered since the question. */
  unmarked(question: number): TableEntry[];
  removeOthers(uid: string, listed: ReadonlySet<string>, question: number): void;
  observed(uid: string): ObservedPod;
  marks(uid: string): PodMarks | undefined;
  uids(): Iterable<string>;
}

interface Slot {
  entry: TableEntry;
  /** Of the answer. */
  question: number;
  marked: number;
}

interface Group {
  marks: PodMarks;
  readonly ids: Set<string>;
  /** Built when it is asked for. */
  observed: ObservedPod | undefined;
}

export function createPodTable(): PodTable {
  const slots = new Map<string, Slot>();
  const groups = new Map<string, Group>();
  /** Removed things, so that an answer which was under way does not bring them back. */
  const graves = new Map<string, number>();
  let last = 0;

  const isOutdated = (id: string, question: number) =>
    question < (slots.get(id)?.question ?? 0) || question < (graves.get(id) ?? 0);

  const drop = (id: string, slot: Slot) => {
    const group = groups.get(slot.entry.uid);
    slots.delete(id);
    group?.ids.delete(id);
    if (group !== undefined) group.observed = undefined;
    if (group?.ids.size === 0) groups.delete(slot.entry.uid);
  };

  const remove = (id: string, question: number) => {
    if (isOutdated(id, question)) return;
    graves.set(id, question);
    const slot = slots.get(id);
    if (slot !== undefined) drop(id, slot);
  };

  const put = (entry: TableEntry, marks: PodMarks, question: number) => {
    if (isOutdated(entry.id, question)) return;
    const slot = slots.get(entry.id);
    slots.set(entry.id, { entry, question, marked: slot?.marked ?? 0 });
    const group = groups.get(entry.uid) ?? { marks, ids: new Set<string>(), observed: undefined };
    group.ids.add(entry.id);
    // Containers know the grace period, sandboxes do not.
    group.marks = { ...group.marks, ...marks };
    group.observed = undefined;
    groups.set(entry.uid, group);
  };

  return {
    question: () => ++last,
    find: (id) => slots.get(id)?.entry,
    put,
    remove,
    mark(id, question) {
      const slot = slots.get(id);
      if (slot !== undefined) slot.marked = question;
      return slot?.entry;
    },
    unmarked(question) {
      for (const [id, buried] of graves) if (buried < question) graves.delete(id);
      const gone: TableEntry[] = [];
      for (const slot of slots.values()) {
        if (slot.marked < question && slot.question < question) gone.push(slot.entry);
      }
      return gone;
    },
    removeOthers(uid, listed, question) {
      for (const id of [...(groups.get(uid)?.ids ?? [])]) if (!listed.has(id)) remove(id, question);
    },
    observed(uid) {
      const group = groups.get(uid);
      if (group === undefined) return nothingObserved;
      group.observed ??= assemble([...group.ids].flatMap((id) => slots.get(id)?.entry ?? []));
      return group.observed;
    },
    marks: (uid) => groups.get(uid)?.marks,
    uids: () => groups.keys(),
  };
}

function assemble(entries: readonly TableEntry[]): ObservedPod {
  return {
    sandboxes: entries.flatMap(({ sandbox }) => sandbox ?? []).sort(newestFirst),
    containers: entries.flatMap(({ container }) => container ?? []).sort(newestFirst),
  };
}
