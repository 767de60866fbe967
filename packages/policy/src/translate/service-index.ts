import { type EndpointSlice, type ObjectReference, type Service, serviceNameLabel } from '@podwire/objects';
import type { InputChange } from '../model/changes.js';
import type { ServiceFact } from '../model/facts.js';
import { SelectedPods } from './selected-pods.js';
import { toProtocol } from './services.js';

type Endpoints = ServiceFact['endpoints'];

/**
 * Endpoints of services: those of their slices, put together; without slices the pods that the Service selects. An
 * endpoint that is not ready counts, since connections to it still go on.
 */
export class ServiceIndex {
  /** Service to its slices, both `namespace/name`. */
  readonly #slices = new Map<string, Map<string, Endpoints>>();
  /** Slice to the service that it was last of. */
  readonly #owners = new Map<string, string>();
  readonly #selected = new SelectedPods();

  putService(service: Service): InputChange[] {
    const key = `${service.metadata.namespace}/${service.metadata.name}`;
    return this.#selected.put(key, service) ? [this.#describe(key)] : [];
  }

  deleteService({ namespace = 'default', name }: Pick<ObjectReference, 'namespace' | 'name'>): InputChange[] {
    const key = `${namespace}/${name}`;
    return this.#selected.delete(key, namespace) ? [this.#describe(key)] : [];
  }

  /** Pods that come, change and go are told here, too; all else among the changes is passed over. */
  followPods(changes: readonly InputChange[]): InputChange[] {
    return [...this.#selected.follow(changes)]
      .filter((key) => !this.#slices.has(key))
      .map((key) => this.#describe(key));
  }

  put(slice: EndpointSlice): InputChange[] {
    const { name, namespace, labels = {} } = slice.metadata;
    const key = `${namespace}/${name}`;
    const service = Object.hasOwn(labels, serviceNameLabel) ? labels[serviceNameLabel] : undefined;
    const owner = service === undefined ? undefined : `${namespace}/${service}`;
    const earlier = this.#owners.get(key);
    const left = earlier === undefined || earlier === owner ? [] : this.#remove(key);
    if (owner === undefined) return left;
    this.#owners.set(key, owner);
    const slices = this.#slices.get(owner) ?? new Map<string, Endpoints>();
    this.#slices.set(owner, slices.set(key, endpointsOf(slice)));
    return [...left, this.#describe(owner)];
  }

  delete({ namespace = 'default', name }: Pick<ObjectReference, 'namespace' | 'name'>): InputChange[] {
    return this.#remove(`${namespace}/${name}`);
  }

  #remove(key: string): InputChange[] {
    const owner = this.#owners.get(key);
    if (owner === undefined) return [];
    this.#owners.delete(key);
    const slices = this.#slices.get(owner);
    slices?.delete(key);
    if (slices?.size === 0) this.#slices.delete(owner);
    return [this.#describe(owner)];
  }

  #describe(owner: string): InputChange {
    const endpoints = this.#sliced(owner) ?? this.#selected.endpointsOf(owner);
    if (endpoints === undefined) return { topic: 'service', key: owner, value: undefined };
    const [namespace, name] = owner.split('/') as [string, string];
    return { topic: 'service', key: owner, value: { namespace, name, endpoints } };
  }

  /** By name, so that the order in which slices come changes nothing. */
  #sliced(owner: string): Endpoints | undefined {
    const slices = this.#slices.get(owner);
    if (slices === undefined) return undefined;
    return [...slices].toSorted(([a], [b]) => (a < b ? -1 : 1)).flatMap(([, each]) => each);
  }
}

/** A port without number is all ports, which no set of ports can say: it is left out, and nothing is allowed by it. */
function endpointsOf({ endpoints, ports = [] }: EndpointSlice): Endpoints {
  const known = ports.flatMap(({ protocol, port }) =>
    port === undefined ? [] : [{ protocol: toProtocol(protocol), port }],
  );
  return endpoints.map(({ addresses }) => ({ addresses, ports: known }));
}
