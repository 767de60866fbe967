import {
  type EndpointSlice,
  type ObjectReference,
  referenceOf,
  type Service,
  type StoredObject,
  type UnreadableObject,
} from '@podwire/objects';
import type { InputChange } from '../model/changes.js';
import { hasSetPeers, LostSets } from './lost-sets.js';
import { ServiceIndex } from './service-index.js';
import { translateObject, translateRemoval } from './translate-object.js';
import { closePolicy, closeRules, translateUnreadable } from './unreadable.js';

type Name = Pick<ObjectReference, 'apiVersion' | 'kind'>;

const isSlice = ({ apiVersion, kind }: Name): boolean =>
  apiVersion === 'discovery.k8s.io/v1' && kind === 'EndpointSlice';

const isService = ({ apiVersion, kind }: Name): boolean => apiVersion === 'v1' && kind === 'Service';

type RuledChange = Extract<InputChange, { readonly topic: 'policy' | 'profile' }>;

/**
 * Objects of a source as changes for a compiler. It remembers services, with their slices and pods; network sets that could never
 * be read; and policies and profiles that speak of network sets.
 */
export class Translator {
  readonly #services = new ServiceIndex();
  readonly #lost = new LostSets();
  /** As they are written. */
  readonly #ofSets = new Map<string, RuledChange>();

  put({ object, origin }: Pick<StoredObject, 'object' | 'origin'>): InputChange[] {
    if (isSlice(object)) return this.#services.put(object as EndpointSlice);
    if (isService(object)) return this.#services.putService(object as Service);
    return [...translateObject(object, origin).map(this.#note), ...this.#found(referenceOf(object))];
  }

  delete(reference: ObjectReference): InputChange[] {
    if (isSlice(reference)) return this.#services.delete(reference);
    if (isService(reference)) return this.#services.deleteService(reference);
    return [...translateRemoval(reference).map(this.#note), ...this.#found(reference)];
  }

  /** For an object that was never read well: of others the last good content stays. */
  unreadable(unreadable: UnreadableObject): InputChange[] {
    const changes = translateUnreadable(unreadable).map(this.#note);
    return this.#lost.put(unreadable) ? [...changes, ...this.#ofSetsAgain()] : changes;
  }

  /** Translates changes of pods into changes of services; the changes of pods are not among the result. */
  followPods(changes: readonly InputChange[]): InputChange[] {
    return this.#services.followPods(changes);
  }

  #note = (change: InputChange): InputChange => {
    if (change.topic !== 'policy' && change.topic !== 'profile') return change;
    const key = `${change.topic} ${change.key}`;
    if (change.value === undefined || !hasSetPeers(change.value)) this.#ofSets.delete(key);
    else this.#ofSets.set(key, change);
    return this.#closeWithoutSet(change);
  };

  #found(reference: ObjectReference): InputChange[] {
    return this.#lost.delete(reference) ? this.#ofSetsAgain() : [];
  }

  #ofSetsAgain(): InputChange[] {
    return [...this.#ofSets.values()].map((change) => this.#closeWithoutSet(change));
  }

  #closeWithoutSet(change: RuledChange): RuledChange {
    const lost = change.value && this.#lost.findFor(change.value);
    if (lost === undefined || change.value === undefined) return change;
    if (change.topic === 'profile') return { ...change, value: closeRules(change.value) };
    const name = lost.namespace === undefined ? lost.name : `${lost.namespace}/${lost.name}`;
    return { ...change, value: closePolicy(change.value, `${lost.kind} ${name} cannot be read`) };
  }
}
