/** Pods by namespace, by node and by label: where a new selection looks for what it selects. */
import type { PodKey } from '../model/facts.js';
import type { Selector } from '../selectors/contract.js';
import { requiredLabels } from '../selectors/required.js';
import { metadataName } from './labels.js';
import type { Selection } from './parts.js';
import { tokenOf } from './selection-index.js';
import type { PodEntry } from './things.js';

type Pods = Map<PodKey, PodEntry>;

export class PodIndex {
  readonly #all: Pods = new Map();
  readonly #byNamespace = new Map<string, Pods>();
  readonly #byNode = new Map<string, Pods>();
  readonly #byLabel = new Map<string, Pods>();

  get(key: PodKey): PodEntry | undefined {
    return this.#all.get(key);
  }

  all(): Iterable<PodEntry> {
    return this.#all.values();
  }

  ofNamespace(name: string): ReadonlyMap<PodKey, PodEntry> {
    return this.#byNamespace.get(name) ?? new Map();
  }

  ofNode(name: string): ReadonlyMap<PodKey, PodEntry> {
    return this.#byNode.get(name) ?? new Map();
  }

  replace(key: PodKey, entry: PodEntry | undefined): void {
    const old = this.#all.get(key);
    if (old !== undefined) for (const [index, name] of this.#places(old)) remove(index, name, key);
    if (entry === undefined) return void this.#all.delete(key);
    this.#all.set(key, entry);
    for (const [index, name] of this.#places(entry)) {
      const pods = index.get(name) ?? new Map<PodKey, PodEntry>();
      index.set(name, pods.set(key, entry));
    }
  }

  /** All pods that the selection can match, and more; by whichever index is known to be narrow. */
  candidates({ namespaces, pods, node }: Selection): Iterable<PodEntry> {
    const found = [
      ...(node === undefined ? [] : [[this.ofNode(node)]]),
      ...this.#find(namespaces, this.#byNamespace, (key, value) =>
        key === metadataName ? value : undefined,
      ),
      ...this.#find(pods, this.#byLabel, tokenOf),
    ];
    const narrowest = found.toSorted((a, b) => countAll(a) - countAll(b))[0] ?? [this.#all];
    return narrowest.flatMap((each) => [...each.values()]);
  }

  /** Empty where the selector requires no label with a value that the index knows. */
  #find(
    selector: Selector,
    index: ReadonlyMap<string, Pods>,
    name: (key: string, value: string) => string | undefined,
  ): ReadonlyMap<PodKey, PodEntry>[][] {
    const names = requiredLabels(selector)?.map(({ key, value }) =>
      value === undefined ? undefined : name(key, value),
    );
    if (names === undefined || names.includes(undefined)) return [];
    return [names.flatMap((each) => index.get(each!) ?? [])];
  }

  *#places({ fact, labels }: PodEntry): Generator<[Map<string, Pods>, string]> {
    yield [this.#byNamespace, fact.namespace];
    yield [this.#byNode, fact.node];
    for (const [key, value] of Object.entries(labels)) yield [this.#byLabel, tokenOf(key, value)];
  }
}

const countAll = (maps: readonly ReadonlyMap<PodKey, PodEntry>[]): number =>
  maps.reduce((sum, { size }) => sum + size, 0);

function remove(index: Map<string, Pods>, name: string, key: PodKey): void {
  const pods = index.get(name);
  pods?.delete(key);
  if (pods?.size === 0) index.delete(name);
}
