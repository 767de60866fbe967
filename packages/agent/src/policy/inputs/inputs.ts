/** All that the compiler is told, in one place: which pods, namespaces and nodes there are, and what objects say. */
import type { PodFacts } from '@podwire/cluster-state';
import type { LinkChange } from '@podwire/network-policy';
import type { ObjectBatch, Revision } from '@podwire/objects';
import type { InputChange, NodeFact, PodFact, PodKey } from '@podwire/policy';
import type { EndpointRecord } from '../../records/record.js';
import type { ObjectTranslator } from '../parts.js';
import type { HostView } from '../../node/host-view.js';
import { HostEndpointIndex } from './host-endpoints.js';
import { NodeIndex } from './node-facts.js';
import { ObjectFollower } from './object-inputs.js';
import { NamespaceIndex, PodIndex } from './pod-index.js';

export interface Changed {
  readonly inputs: readonly InputChange[];
  readonly links: readonly LinkChange[];
  /** Addresses that have no owner any more, or another one. */
  readonly released: readonly string[];
  /** Addresses that have an owner now which they did not have. */
  readonly taken: readonly string[];
}

/** Each method takes a change in and returns what it means for the compiler. */
export class PolicyInputs {
  readonly pods: PodIndex;
  readonly nodes = new NodeIndex();
  readonly objects: ObjectFollower;
  readonly hosts: HostEndpointIndex;
  readonly #node: string;
  readonly #translator: ObjectTranslator;
  readonly #namespaces = new NamespaceIndex();
  readonly #seen = new Map<PodKey, PodFact>();
  /** By address, the pod that had it last. */
  readonly #owners = new Map<string, PodKey>();

  /** @param isEnforced of the pod behind an endpoint; others have no links in the packet filter */
  constructor(node: string, translator: ObjectTranslator, isEnforced?: (record: EndpointRecord) => boolean) {
    this.#node = node;
    this.#translator = translator;
    this.pods = new PodIndex(node, isEnforced);
    this.hosts = new HostEndpointIndex(node);
    this.objects = new ObjectFollower(translator);
  }

  attach(record: EndpointRecord): Changed {
    const { inputs, links } = this.pods.attach(record);
    return { ...this.#followPods(inputs), links };
  }

  detach(record: EndpointRecord): Changed {
    const { inputs, links } = this.pods.detach(record);
    return { ...this.#followPods(inputs), links };
  }

  noteRemote(
    key: string,
    pod: PodKey,
    stored: { readonly value: PodFacts; readonly revision: number } | undefined,
  ): Changed {
    return { ...this.#followPods(this.pods.noteRemote(key, pod, stored)), links: [] };
  }

  noteNode(name: string, fact: NodeFact | undefined): readonly InputChange[] {
    return this.nodes.note(name, fact);
  }

  takeObjects(batch: ObjectBatch): { readonly inputs: readonly InputChange[]; readonly revision: Revision } {
    const { inputs, revision } = this.objects.take(batch);
    return {
      inputs: inputs.map((input) => this.#noteObject(input)),
      revision,
    };
  }

  /** Links of this node, and their addresses. */
  noteHost(host: Pick<HostView, 'links' | 'addresses'>): readonly InputChange[] {
    return this.hosts.noteHost(host);
  }

  #noteObject(input: InputChange): InputChange {
    if (input.topic === 'namespace') return this.#namespaces.noteObject(input.key, input.value);
    return input.topic === 'host-endpoint' ? this.hosts.note(input) : input;
  }

  /** True for an address of a pod of this node. */
  isLocal(address: string): boolean {
    const pod = this.#owners.get(address);
    return pod !== undefined && this.#seen.get(pod)?.node === this.#node;
  }

  podAt(address: string): PodKey | undefined {
    return this.#owners.get(address);
  }

  /** Name of the node that has the address itself. */
  nodeAt(address: string): string | undefined {
    return [...this.nodes.facts.values()].find(({ addresses }) => addresses.includes(address))?.name;
  }

  /** `pod/NAMESPACE/NAME` or `node/NAME`; undefined for addresses of others. */
  nameOf(address: string): string | undefined {
    const pod = this.podAt(address);
    if (pod !== undefined) return `pod/${pod}`;
    const node = this.nodeAt(address);
    return node === undefined ? undefined : `node/${node}`;
  }

  #followPods(inputs: readonly InputChange[]): Omit<Changed, 'links'> {
    const namespaces: InputChange[] = [];
    const released: string[] = [];
    const taken: string[] = [];
    for (const input of inputs) {
      if (input.topic !== 'pod') continue;
      const before = this.#seen.get(input.key);
      if (input.value === undefined) this.#seen.delete(input.key);
      else this.#seen.set(input.key, input.value);
      const moved = this.#moveAddresses(input.key, before, input.value);
      released.push(...moved.released);
      taken.push(...moved.taken);
      const namespace = (input.value ?? before)?.namespace;
      if (namespace === undefined || (before === undefined) === (input.value === undefined)) continue;
      namespaces.push(...this.#namespaces.notePod(namespace, input.value === undefined ? -1 : 1));
    }
    // A namespace is there before its first pod.
    return { inputs: [...namespaces, ...inputs, ...this.#translator.followPods(inputs)], released, taken };
  }

  #moveAddresses(
    pod: PodKey,
    before: PodFact | undefined,
    after: PodFact | undefined,
  ): Pick<Changed, 'released' | 'taken'> {
    const gone = (before?.addresses ?? []).filter(
      (address) => after?.addresses.includes(address) !== true && this.#owners.get(address) === pod,
    );
    for (const address of gone) this.#owners.delete(address);
    const taken = (after?.addresses ?? []).filter((address) => this.#owners.get(address) !== pod);
    const released = [...gone, ...taken.filter((address) => this.#owners.has(address))];
    for (const address of taken) this.#owners.set(address, pod);
    return { released, taken };
  }
}
