/** Selections that something asks for, with the pods that they select now. */
import type { PodKey } from '../model/facts.js';
import type { Selection } from './parts.js';
import { PodIndex } from './pod-index.js';
import { SelectionIndex } from './selection-index.js';
import { type PodEntry, selectsPod } from './things.js';

/** Told of each pod that comes, goes or changes: `before` and `after` are absent where the pod is not selected. */
export type SelectionListener = (before: PodEntry | undefined, after: PodEntry | undefined) => void;

export interface LiveSelection {
  readonly selection: Selection;
  readonly pods: ReadonlyMap<PodKey, PodEntry>;
}

interface Live extends LiveSelection {
  readonly pods: Map<PodKey, PodEntry>;
  readonly listeners: Set<SelectionListener>;
}

const none: ReadonlySet<Live> = new Set();

export class LiveSelections {
  readonly pods = new PodIndex();
  readonly #byKey = new Map<string, Live>();
  readonly #index = new SelectionIndex<Live>();
  /** Those that look at pods of one node only, by node. */
  readonly #ofNode = new Map<string, SelectionIndex<Live>>();
  readonly #ofPod = new Map<PodKey, Set<Live>>();

  /** The listener is not told of pods that are selected already: they are in what is returned. */
  listen(selection: Selection, listener: SelectionListener): LiveSelection {
    const live = this.#byKey.get(selection.key) ?? this.#begin(selection);
    live.listeners.add(listener);
    return live;
  }

  /** A selection that nothing listens to is forgotten. */
  unlisten({ key }: Selection, listener: SelectionListener): void {
    const live = this.#byKey.get(key);
    live?.listeners.delete(listener);
    if (live?.listeners.size !== 0) return;
    this.#byKey.delete(key);
    this.#indexOf(live.selection).delete(live);
    for (const pod of live.pods.keys()) this.#forget(pod, live);
  }

  /** The cost follows the selections that may match, not how many there are. */
  replace(key: PodKey, after: PodEntry | undefined): void {
    const old = this.#ofPod.get(key) ?? none;
    const selected = new Set(after === undefined ? [] : this.#selectionsOf(after));
    this.pods.replace(key, after);
    if (selected.size > 0) this.#ofPod.set(key, selected);
    else this.#ofPod.delete(key);
    for (const live of old) if (!selected.has(live)) change(live, key, undefined);
    for (const live of selected) change(live, key, after);
  }

  *#selectionsOf(pod: PodEntry): Generator<Live> {
    for (const index of [this.#index, this.#ofNode.get(pod.fact.node)])
      for (const live of index?.candidates(pod) ?? []) if (selectsPod(live.selection, pod)) yield live;
  }

  #begin(selection: Selection): Live {
    const pods = [...this.pods.candidates(selection)].filter((pod) => selectsPod(selection, pod));
    const live = {
      selection,
      pods: new Map(pods.map((pod) => [pod.key, pod])),
      listeners: new Set<SelectionListener>(),
    };
    this.#byKey.set(selection.key, live);
    this.#indexOf(selection).add(live);
    for (const { key } of pods) this.#remember(key, live);
    return live;
  }

  #indexOf({ node }: Selection): SelectionIndex<Live> {
    if (node === undefined) return this.#index;
    const index = this.#ofNode.get(node) ?? new SelectionIndex<Live>();
    this.#ofNode.set(node, index);
    return index;
  }

  #remember(key: PodKey, live: Live): void {
    const known = this.#ofPod.get(key);
    if (known === undefined) this.#ofPod.set(key, new Set([live]));
    else known.add(live);
  }

  #forget(key: PodKey, live: Live): void {
    const known = this.#ofPod.get(key);
    known?.delete(live);
    if (known?.size === 0) this.#ofPod.delete(key);
  }
}

function change(live: Live, key: PodKey, after: PodEntry | undefined): void {
  const before = live.pods.get(key);
  if (after === undefined) live.pods.delete(key);
  else live.pods.set(key, after);
  for (const listener of live.listeners) listener(before, after);
}
