/** The API server's objects in memory, and which pods have changed since they were looked at. */
import type { Annotations, StatefulSet } from '@podwire/cluster-ovn';
import { isEqual } from '@podwire/objects';
import type { KubernetesNamespace, KubernetesNode, KubernetesPod, ReadObject } from './contract.js';
import { type ChangedIds, NamedCopy } from './named-copy.js';

/** Words that messages have for each kind. */
const kinds = { pods: 'Pod', namespaces: 'Namespace', statefulSets: 'StatefulSet', nodes: 'Node' } as const;

/** Objects that plans read beside the store. */
export interface PlannedObjects {
  readonly statefulSets: readonly StatefulSet[];
  /** Annotations of rates, by the names of the nodes. */
  readonly nodeRates: ReadonlyMap<string, Annotations>;
}

export type KindName = keyof typeof kinds;

type Objects<T> = ReadonlyMap<string, ReadObject<T>>;

export class ClusterView {
  readonly #pods = new NamedCopy<KubernetesPod>();
  readonly #namespaces = new NamedCopy<KubernetesNamespace>();
  readonly #statefulSets = new NamedCopy<StatefulSet>();
  readonly #nodes = new NamedCopy<KubernetesNode>();
  #planned: PlannedObjects = { statefulSets: [], nodeRates: new Map() };
  /** Ids of pods whose records have to be compared. */
  #due: Set<string> | 'all' = 'all';

  /** The same until one of them is another one. */
  get planned(): PlannedObjects {
    return this.#planned;
  }

  pod(id: string): ReadObject<KubernetesPod> | undefined {
    return this.#pods.get(id);
  }

  podIds(): string[] {
    return [...this.#pods.ids()];
  }

  node(name: string): KubernetesNode | undefined {
    return this.#nodes.get(name)?.object;
  }

  /** One that cannot be read may choose a subnet that is not known. */
  hasNamespace(name: string): boolean {
    return this.#namespaces.get(name)?.object !== undefined;
  }

  /** For pods of this namespace that name none. */
  subnetOf(namespace: string): string | undefined {
    return this.#namespaces.get(namespace)?.object?.subnet;
  }

  /** Of objects that cannot be read: each begins with a code. */
  get problems(): readonly string[] {
    const copies: Readonly<Record<KindName, NamedCopy<unknown>>> = {
      ...{ pods: this.#pods, namespaces: this.#namespaces },
      ...{ statefulSets: this.#statefulSets, nodes: this.#nodes },
    };
    return (Object.keys(kinds) as KindName[]).flatMap((kind) =>
      [...copies[kind].problems].map(([id, problem]) => `OBJECT_INVALID: ${kinds[kind]} ${id}: ${problem}`),
    );
  }

  /** @param uid of the object that is other than before; absent: any may be */
  updatePods(objects: Objects<KubernetesPod>, uid?: string): ChangedIds {
    const changed = this.#pods.update(objects, uid);
    this.noteDue(changed ?? 'all');
    return changed;
  }

  updateNamespaces(objects: Objects<KubernetesNamespace>, uid?: string): ChangedIds {
    const changed = this.#namespaces.update(objects, uid);
    const names = new Set(changed);
    const isConcerned = (id: string): boolean => names.has(id.slice(0, id.indexOf('/')));
    if (changed === undefined) this.noteDue('all');
    else if (names.size > 0) this.noteDue(this.podIds().filter(isConcerned));
    return changed;
  }

  /** One that cannot be read is as it was, or of any size: its pods keep what they have. */
  updateStatefulSets(objects: Objects<StatefulSet>, uid?: string): ChangedIds {
    const { statefulSets } = this.#planned;
    const before = new Map(statefulSets.map((set) => [`${set.namespace}/${set.name}`, set]));
    const changed = this.#statefulSets.update(objects, uid);
    const after = [...this.#statefulSets.list()].flatMap(
      ({ id, object }) => object ?? before.get(id) ?? assumeSet(id),
    );
    if (!isEqual(after, statefulSets)) this.#planned = { ...this.#planned, statefulSets: after };
    return changed;
  }

  updateNodes(objects: Objects<KubernetesNode>, uid?: string): ChangedIds {
    const changed = this.#nodes.update(objects, uid);
    if (changed?.length === 0) return changed;
    const nodes = [...this.#nodes.list()].flatMap(({ object }) => object ?? []);
    const nodeRates = new Map(nodes.map(({ id, rates }) => [id, rates] as const));
    if (!isEqual([...nodeRates], [...this.#planned.nodeRates]))
      this.#planned = { ...this.#planned, nodeRates };
    return changed;
  }

  noteDue(ids: Iterable<string> | 'all'): void {
    if (ids === 'all') this.#due = 'all';
    else if (this.#due !== 'all') for (const id of ids) this.#due.add(id);
  }

  /** Since the last call. */
  takeDue(): ReadonlySet<string> | 'all' {
    const due = this.#due;
    this.#due = new Set();
    return due;
  }
}

/** A set that nothing is known of but its name: no number of its pods is too high. @returns none for an object without names */
function assumeSet(id: string): StatefulSet[] {
  const [namespace, name] = id.split('/');
  if (!namespace || !name) return [];
  return [{ namespace, name, replicas: Number.MAX_SAFE_INTEGER, isDeleting: false }];
}
