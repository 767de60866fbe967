/**
 * Which pod is called how, where several may be: a sandbox that is made again beside its predecessor, a pod that moves to another
 * node. Local endpoints come before what other nodes say, and of those the newest counts.
 */
import type { PodFacts } from '@podwire/cluster-state';
import type { PolicyLink, LinkChange } from '@podwire/network-policy';
import { endpointKey } from '@podwire/network-contract';
import type { InputChange, NamespaceFact, PodFact, PodKey } from '@podwire/policy';
import { compact } from '@podwire/platform';
import { hostLinks } from '../../endpoints/registry.js';
import type { EndpointRecord } from '../../records/record.js';
import { podKeyOf, policyPodOf } from './facts.js';

interface Remote {
  readonly fact: PodFact;
  readonly revision: number;
}

/** Changes of inputs and links when pods come and go. */
export interface PodChanges {
  readonly inputs: readonly InputChange[];
  readonly links: readonly LinkChange[];
}

export class PodIndex {
  readonly #node: string;
  /** By pod, then by endpoint. */
  readonly #local = new Map<PodKey, Map<string, EndpointRecord>>();
  /** By pod, then by key in the store. */
  readonly #remote = new Map<PodKey, Map<string, Remote>>();
  readonly #pods = new Map<PodKey, PodFact>();
  readonly #links = new Map<string, PolicyLink>();

  readonly #isEnforced: (record: EndpointRecord) => boolean;

  constructor(node: string, isEnforced: (record: EndpointRecord) => boolean = () => true) {
    this.#node = node;
    this.#isEnforced = isEnforced;
  }

  get pods(): ReadonlyMap<PodKey, PodFact> {
    return this.#pods;
  }

  /** A second time: its facts may be others. */
  attach(record: EndpointRecord): PodChanges {
    const pod = podKeyOf(policyPodOf(record));
    put(this.#local, pod, endpointKey(record.id), record);
    const enforced = this.#isEnforced(record) ? linksOf(record, pod) : [];
    const links = enforced.map((value): LinkChange => ({ link: value.link, value }));
    for (const { link, value } of links) this.#links.set(link, value!);
    return { inputs: this.#refresh(pod), links };
  }

  detach(record: EndpointRecord): PodChanges {
    const pod = podKeyOf(policyPodOf(record));
    drop(this.#local, pod, endpointKey(record.id));
    const links = hostLinks(record).filter((link) => this.#links.get(link)?.endpoint === pod);
    for (const link of links) this.#links.delete(link);
    return { inputs: this.#refresh(pod), links: links.map((link) => ({ link, value: undefined })) };
  }

  /** @param facts undefined: there are none any more under the key */
  noteRemote(
    key: string,
    pod: PodKey,
    stored: { readonly value: PodFacts; readonly revision: number } | undefined,
  ): readonly InputChange[] {
    if (stored === undefined || stored.value.node === this.#node) drop(this.#remote, pod, key);
    else put(this.#remote, pod, key, { fact: factOf(stored.value), revision: stored.revision });
    return this.#refresh(pod);
  }

  /** The local pod as other nodes are told of it. */
  published(pod: PodKey): PodFacts | undefined {
    const fact = this.#localFact(pod);
    if (fact === undefined) return undefined;
    const { hostNetwork: _, ...rest } = fact;
    return compact({ ...rest, addresses: [...fact.addresses], ports: [...fact.ports] });
  }

  localPods(): readonly PodKey[] {
    return [...this.#local.keys()];
  }

  #refresh(pod: PodKey): readonly InputChange[] {
    const before = this.#pods.get(pod);
    const value = this.#localFact(pod) ?? newest(this.#remote.get(pod));
    if (JSON.stringify(before) === JSON.stringify(value)) return [];
    if (value === undefined) this.#pods.delete(pod);
    else this.#pods.set(pod, value);
    return [{ topic: 'pod', key: pod, value }];
  }

  #localFact(pod: PodKey): PodFact | undefined {
    const records = [...(this.#local.get(pod)?.values() ?? [])];
    if (records.length === 0) return undefined;
    const latest = records.reduce((a, b) => (b.createdAt >= a.createdAt ? b : a));
    return {
      ...policyPodOf(latest),
      labels: latest.facts?.labels ?? {},
      addresses: [...new Set(records.flatMap(({ leases }) => leases.map(({ address }) => address)))],
      node: this.#node,
      ports: latest.facts?.ports ?? [],
      ...compact({ serviceAccount: latest.facts?.serviceAccount }),
    };
  }
}

/** Namespaces that have an object, and those that have a pod: these exist too, without labels of their own. */
export class NamespaceIndex {
  readonly #objects = new Map<string, NamespaceFact>();
  readonly #pods = new Map<string, number>();

  noteObject(name: string, value: NamespaceFact | undefined): InputChange {
    if (value === undefined) this.#objects.delete(name);
    else this.#objects.set(name, value);
    return { topic: 'namespace', key: name, value: this.#valueOf(name) };
  }

  /** @param change 1: a pod more, -1: one less */
  notePod(name: string, change: 1 | -1): readonly InputChange[] {
    const count = (this.#pods.get(name) ?? 0) + change;
    if (count === 0) this.#pods.delete(name);
    else this.#pods.set(name, count);
    const isOther = count === 0 || (count === 1 && change === 1);
    if (!isOther || this.#objects.has(name)) return [];
    return [{ topic: 'namespace', key: name, value: this.#valueOf(name) }];
  }

  #valueOf(name: string): NamespaceFact | undefined {
    const object = this.#objects.get(name);
    if (object !== undefined || !this.#pods.has(name)) return object;
    return { name, labels: { 'kubernetes.io/metadata.name': name } };
  }
}

function linksOf(record: EndpointRecord, endpoint: PodKey): PolicyLink[] {
  const addresses = record.leases.map(({ address }) => address);
  return hostLinks(record).map((link) => ({ link, endpoint, addresses }));
}

const factOf = ({ namespace, name, node, labels, addresses, ports, serviceAccount }: PodFacts): PodFact => ({
  ...{ namespace, name, labels, addresses, node, ports },
  ...compact({ serviceAccount }),
});

function newest(remotes: ReadonlyMap<string, Remote> | undefined): PodFact | undefined {
  const all = [...(remotes?.values() ?? [])];
  return all.length === 0 ? undefined : all.reduce((a, b) => (b.revision > a.revision ? b : a)).fact;
}

function put<T>(map: Map<string, Map<string, T>>, first: string, second: string, value: T): void {
  const inner = map.get(first) ?? new Map<string, T>();
  map.set(first, inner.set(second, value));
}

function drop<T>(map: Map<string, Map<string, T>>, first: string, second: string): void {
  const inner = map.get(first);
  inner?.delete(second);
  if (inner?.size === 0) map.delete(first);
}
