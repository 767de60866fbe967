import type { Service } from '@podwire/objects';
import type { InputChange } from '../model/changes.js';
import type { PodFact, PodKey, ServiceFact } from '../model/facts.js';
import { toProtocol } from './services.js';

type Endpoints = ServiceFact['endpoints'];
type ServicePort = NonNullable<Service['spec']['ports']>[number];
type ServiceKey = string;

interface Selecting {
  readonly labels: Readonly<Record<string, string>>;
  readonly ports: readonly ServicePort[];
}

/** Which pods a service selects, where no slices say it: a cluster without an API server has none. */
export class SelectedPods {
  /** By namespace, since a service selects pods of its own. */
  readonly #services = new Map<string, Map<ServiceKey, Selecting>>();
  readonly #pods = new Map<string, Map<PodKey, PodFact>>();

  /** @returns whether it selects pods now, or did before */
  put(key: ServiceKey, { metadata: { namespace }, spec }: Service): boolean {
    const { selector = {}, ports = [], type } = spec;
    // An empty selector is none: its endpoints are written by hand.
    if (Object.keys(selector).length === 0 || type === 'ExternalName') return this.delete(key, namespace);
    const services = this.#services.get(namespace) ?? new Map<ServiceKey, Selecting>();
    this.#services.set(namespace, services.set(key, { labels: selector, ports }));
    return true;
  }

  delete(key: ServiceKey, namespace: string): boolean {
    return this.#services.get(namespace)?.delete(key) ?? false;
  }

  /** @returns services whose endpoints may have changed */
  follow(changes: readonly InputChange[]): ReadonlySet<ServiceKey> {
    const touched = new Set<ServiceKey>();
    for (const change of changes) if (change.topic === 'pod') this.#note(change.key, change.value, touched);
    return touched;
  }

  #note(key: PodKey, fact: PodFact | undefined, touched: Set<ServiceKey>): void {
    const namespace = key.slice(0, key.indexOf('/'));
    const pods = this.#pods.get(namespace) ?? new Map<PodKey, PodFact>();
    const before = pods.get(key);
    if (fact === undefined) pods.delete(key);
    else this.#pods.set(namespace, pods.set(key, fact));
    if (pods.size === 0) this.#pods.delete(namespace);
    for (const [service, { labels }] of this.#services.get(namespace) ?? [])
      if (isSelected(labels, before) || isSelected(labels, fact)) touched.add(service);
  }

  /** Undefined: the service selects no pods, there is no such thing. */
  endpointsOf(key: ServiceKey): Endpoints | undefined {
    const namespace = key.slice(0, key.indexOf('/'));
    const service = this.#services.get(namespace)?.get(key);
    if (service === undefined) return undefined;
    return [...(this.#pods.get(namespace) ?? [])]
      .filter(([, pod]) => isSelected(service.labels, pod))
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([, pod]) => ({
        addresses: pod.addresses,
        ports: service.ports.flatMap((port) => portsOf(port, pod)),
      }));
  }
}

const isSelected = (wanted: Selecting['labels'], pod: PodFact | undefined): boolean =>
  pod !== undefined &&
  Object.entries(wanted).every(([key, value]) => Object.hasOwn(pod.labels, key) && pod.labels[key] === value);

/** A name is looked up at each pod; a pod that has no such port serves nothing on it. */
function portsOf(
  { protocol: word, port, targetPort = port }: ServicePort,
  pod: PodFact,
): Endpoints[number]['ports'] {
  const protocol = toProtocol(word);
  if (typeof targetPort === 'number') return [{ protocol, port: targetPort }];
  return pod.ports
    .filter((each) => each.name === targetPort && each.protocol === protocol)
    .map((each) => ({ protocol, port: each.port }));
}
