/** Facts as they are now, with their labels: a change of a namespace's or a profile's labels is a change of what has them. */
import type { InputChange } from '../model/changes.js';
import type { HostEndpointFact, Labels, NetworkSetFact, PodFact, PodKey } from '../model/facts.js';
import { builtInProfiles } from '../model/built-in-profiles.js';
import type { Profile, Tier } from '../model/policy.js';
import {
  labelsOfHost,
  labelsOfNamespace,
  labelsOfNetworkSet,
  labelsOfPod,
  profileNamesOf,
} from './labels.js';
import { LiveSelections } from './live-selections.js';
import type { Thing } from './things.js';

export type FactChange = Exclude<InputChange, { readonly topic: 'policy' | 'tier' }>;

/** Hears of endpoints that may have other policies now, and of things that have changed. */
export interface WorldListener {
  endpoint(key: string): void;
  thing(channel: string, before: Thing | undefined, after: Thing | undefined): void;
}

/** No namespace is called like that. */
export const hostKey = (name: string): string => `*host/${name}`;

export class World {
  readonly selections = new LiveSelections();
  readonly profiles = new Map<string, Profile>(builtInProfiles);
  readonly tiers = new Map<string, Tier>();
  readonly #namespaces = new Map<string, Labels>();
  /** By channel, then by key. */
  readonly #things = new Map<string, Map<string, Thing>>();
  readonly #listener: WorldListener;

  constructor(listener: WorldListener) {
    this.#listener = listener;
  }

  readonly findThings = (channel: string): Iterable<Thing> => this.#things.get(channel)?.values() ?? [];

  labelsOfNamespace(name: string): Labels {
    return labelsOfNamespace(name, this.#namespaces.get(name));
  }

  hostEndpoint(name: string): Extract<Thing, { from: 'host-endpoints' }> | undefined {
    const thing = this.#things.get('host-endpoints')?.get(name);
    return thing?.from === 'host-endpoints' ? thing : undefined;
  }

  *hostEndpoints(node: string): Generator<Extract<Thing, { from: 'host-endpoints' }>> {
    for (const thing of this.findThings('host-endpoints'))
      if (thing.from === 'host-endpoints' && thing.fact.node === node) yield thing;
  }

  change(change: FactChange): void {
    const { key } = change;
    switch (change.topic) {
      case 'pod':
        return this.#replacePod(key, change.value);
      case 'namespace':
        return this.#replaceNamespace(key, change.value?.labels);
      case 'profile':
        return this.#replaceProfile(key, change.value);
      case 'node':
        return this.#replaceThing(
          'nodes',
          key,
          change.value && { from: 'nodes', fact: change.value, labels: change.value.labels },
        );
      case 'domain':
        return this.#replaceThing(
          `domain ${key}`,
          key,
          change.value && { from: 'domain', fact: change.value },
        );
      case 'service':
        return this.#replaceThing(
          `service ${key}`,
          key,
          change.value && { from: 'service', fact: change.value },
        );
      case 'host-endpoint':
        this.#replaceThing('host-endpoints', key, change.value && this.#describeHost(change.value));
        return this.#listener.endpoint(hostKey(key));
      case 'network-set':
        return this.#replaceThing(
          'network-sets',
          key,
          change.value && this.#describeNetworkSet(change.value),
        );
    }
  }

  #replacePod(key: PodKey, fact: PodFact | undefined): void {
    const labels = fact && labelsOfPod(fact, this.profiles);
    const namespaceLabels = fact && this.labelsOfNamespace(fact.namespace);
    this.selections.replace(key, fact && { key, fact, labels: labels!, namespaceLabels: namespaceLabels! });
    this.#listener.endpoint(key);
  }

  #replaceNamespace(name: string, labels: Labels | undefined): void {
    if (labels === undefined) this.#namespaces.delete(name);
    else this.#namespaces.set(name, labels);
    for (const { key, fact } of [...this.selections.pods.ofNamespace(name).values()])
      this.#replacePod(key, fact);
    for (const [key, thing] of [...(this.#things.get('network-sets') ?? [])])
      if (thing.from === 'network-sets' && thing.fact.namespace === name)
        this.#replaceThing('network-sets', key, this.#describeNetworkSet(thing.fact));
  }

  /** Calico's names say whose profiles they are: `kns.NAMESPACE`, `ksa.NAMESPACE.ACCOUNT`. */
  #replaceProfile(name: string, object: Profile | undefined): void {
    const profile = object ?? builtInProfiles.get(name);
    if (profile === undefined) this.profiles.delete(name);
    else this.profiles.set(name, profile);
    const namespace = /^kns\.(.+)$/.exec(name)?.[1] ?? /^ksa\.([^.]+)\./.exec(name)?.[1];
    const pods = namespace === undefined ? [] : [...this.selections.pods.ofNamespace(namespace).values()];
    for (const { key, fact } of pods) if (profileNamesOf(fact).includes(name)) this.#replacePod(key, fact);
    for (const [key, thing] of [...(this.#things.get('host-endpoints') ?? [])])
      if (thing.from === 'host-endpoints' && thing.fact.profiles.includes(name)) {
        this.#replaceThing('host-endpoints', key, this.#describeHost(thing.fact));
        this.#listener.endpoint(hostKey(key));
      }
  }

  #describeHost(fact: HostEndpointFact): Thing {
    return { from: 'host-endpoints', fact, labels: labelsOfHost(fact, this.profiles) };
  }

  #describeNetworkSet(fact: NetworkSetFact): Thing {
    const namespaceLabels = fact.namespace === undefined ? {} : this.labelsOfNamespace(fact.namespace);
    return { from: 'network-sets', fact, labels: labelsOfNetworkSet(fact), namespaceLabels };
  }

  #replaceThing(channel: string, key: string, after: Thing | undefined): void {
    const things = this.#things.get(channel) ?? new Map<string, Thing>();
    const before = things.get(key);
    if (after === undefined) things.delete(key);
    else things.set(key, after);
    if (things.size === 0) this.#things.delete(channel);
    else this.#things.set(channel, things);
    this.#listener.thing(channel, before, after);
  }
}
