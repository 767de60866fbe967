/**
 * Records of this node's pods in the store, by which a controller gives them their addresses. A pod has one from its ADD until the last
 * of its endpoints is removed. Those of pods that the API server has are the controller's own: it writes and deletes them.
 */
import { folders, type Keys, ovnPodKind, type OvnPodRecord } from '@podwire/cluster-state';
import { PodwireError } from '@podwire/errors';
import { annotationNames, problemAnnotation } from '@podwire/objects/kube-ovn-names';
import { type EndpointId, endpointKey, type PodIdentity } from '@podwire/network-contract';
import { type Clock, KeyedMutex, type Log, Workqueue } from '@podwire/platform';
import { type Network, networkOf } from '../networks.js';
import type { EndpointRecord } from '../records/record.js';
import {
  decodeObject,
  encodeObject,
  type Item,
  repeatOnConflict,
  type Store,
  type WatchBatch,
} from '@podwire/store';

export interface PodRecordsOptions {
  readonly store: Pick<Store, 'get' | 'put' | 'delete' | 'list' | 'watch'>;
  readonly keys: Pick<Keys, 'root' | 'ovnPod'>;
  readonly nodeName: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** Content of a record but for the node. */
export type PodRecord = Omit<OvnPodRecord, 'node' | 'source'>;

interface Held {
  readonly record: PodRecord;
  /** Endpoints of the pod, by their keys. */
  readonly owners: ReadonlyMap<string, EndpointId>;
  /** Annotations of the record when the pod asked, until its answer is noted. */
  readonly asked?: Annotations | undefined;
  /** The API server has the pod: where the record is gone, the controller has deleted it. */
  readonly isOfController?: boolean;
}

type Annotations = PodRecord['annotations'];
type PodName = Pick<PodRecord, 'namespace' | 'name'>;
type PodLife = PodName & Pick<PodRecord, 'uid'>;

/** Milliseconds until a failure is tried again. */
const backoff = { first: 1_000, longest: 30_000 } as const;
/** A key of the queue that is no pod: all records are compared. */
const all = '';

export class PodRecords {
  readonly #options: PodRecordsOptions;
  /** By NAMESPACE/NAME. */
  readonly #held = new Map<string, Held>();
  readonly #locks = new KeyedMutex();
  readonly #queue: Workqueue<string>;

  constructor(options: PodRecordsOptions) {
    this.#options = options;
    this.#queue = new Workqueue({
      reconcile: (key, signal) => (key === all ? this.#compare(signal) : this.#follow(key, signal)),
      onError: (err, pod) =>
        options.log.warn(
          { err, pod },
          'the record of a pod could not be brought in order; it is tried again',
        ),
      clock: options.clock,
      backoff,
    });
  }

  /** True if the record is in the store for this endpoint, and not about to be deleted. */
  has(owner: EndpointId, { namespace, name, uid }: PodLife): boolean {
    const held = this.#held.get(idOf({ namespace, name }));
    return held?.record.uid === uid && held.owners.has(endpointKey(owner));
  }

  /**
   * Writes the record of a pod that is to get its addresses. That of another pod under the same name is replaced.
   * @throws PodwireError as the store does; OBJECT_INVALID for annotations that are too long
   */
  async ask(owner: EndpointId, record: PodRecord, signal: AbortSignal): Promise<void> {
    const id = idOf(record);
    await this.#locks.withKey(id, signal, async () => {
      const found = this.#held.get(id);
      if (found?.record.uid === record.uid) return this.#note(owner, found.record);
      const isOther = (present: OvnPodRecord | undefined): boolean => present?.uid !== record.uid;
      const { annotations: asked, source } = await this.#write(record, isOther, signal);
      return this.#note(owner, record, { asked, isOfController: source !== undefined });
    });
  }

  /**
   * True from the first {@link ask} of a pod on until its answer is noted: what is known of the pod otherwise may be the answer to an
   * earlier record, whose addresses the controller is about to free.
   */
  isUnanswered(pod: PodName): boolean {
    return this.#held.get(idOf(pod))?.asked !== undefined;
  }

  noteAnswered(pod: PodName): void {
    const [id, held] = [idOf(pod), this.#held.get(idOf(pod))];
    if (held !== undefined) this.#held.set(id, { ...held, asked: undefined });
  }

  /** Annotations of the record, once the controller has answered it. @throws PodwireError as the store does; the signal's reason */
  async untilAnswered({ namespace, name, uid }: PodLife, signal: AbortSignal): Promise<Annotations> {
    const asked = this.#held.get(idOf({ namespace, name }))?.asked;
    if (asked !== undefined && hasAnswer(asked)) return asked;
    const { store, keys } = this.#options;
    const key = keys.ovnPod(namespace, name);
    for await (const batch of store.watch(key, { signal }))
      for (const item of itemsOf(batch)) {
        const record = item.key === key ? this.#read(item) : undefined;
        if (record?.uid === uid && hasAnswer(record.annotations)) return record.annotations;
      }
    signal.throwIfAborted();
    throw new PodwireError('STORE_UNAVAILABLE', `the watch of ${key} has ended`);
  }

  /** The reason why the pod has no addresses yet, in words that begin with a code; undefined where none is known. */
  async findProblem({ namespace, name, uid }: PodLife, signal: AbortSignal): Promise<string | undefined> {
    const { store, keys } = this.#options;
    const item = await store.get(keys.ovnPod(namespace, name), { signal });
    const record = item === undefined ? undefined : this.#read(item);
    return record?.uid === uid ? record.annotations[problemAnnotation] : undefined;
  }

  /**
   * The UID of a pod that the API server has; undefined where the controller follows none, or has not seen the pod.
   * @throws PodwireError POD_UNALLOCATED: as far as is known, the pod under this name is on another node, or here already
   */
  async findUid(namespace: string, name: string, signal: AbortSignal): Promise<string | undefined> {
    const { store, keys, nodeName } = this.#options;
    const item = await store.get(keys.ovnPod(namespace, name), { signal });
    const record = item === undefined ? undefined : this.#read(item);
    if (record?.source === undefined) return undefined;
    const isHere = this.#held.get(idOf(record))?.record.uid === record.uid;
    if (record.node === nodeName && !isHere) return record.uid;
    const place = isHere ? 'has a sandbox here already' : `is on node ${record.node}`;
    const message = `pod ${namespace}/${name} ${place}, as far as the controller knows`;
    throw new PodwireError('POD_UNALLOCATED', message);
  }

  /** Notes a pod that has its addresses; a record that the store has lost is written again. */
  hold(owner: EndpointId, record: PodRecord): void {
    this.#note(owner, record);
  }

  /** Endpoints have been removed, or will never be. The records of pods without any are deleted soon. */
  release(isRemoved: (owner: EndpointId) => boolean): void {
    for (const [id, held] of this.#held) {
      const left = new Map([...held.owners].filter(([, owner]) => !isRemoved(owner)));
      if (left.size === held.owners.size) continue;
      if (left.size > 0) this.#held.set(id, { ...held, owners: left });
      else {
        this.#held.delete(id);
        this.#queue.add(id);
      }
    }
  }

  /** Compares all records of this node with its pods, in the background. */
  compareSoon(): void {
    this.#queue.add(all);
  }

  stop(): Promise<void> {
    return this.#queue.stop();
  }

  #note(owner: EndpointId, record: PodRecord, more: Pick<Held, 'asked' | 'isOfController'> = {}): void {
    const id = idOf(record);
    const found = this.#held.get(id);
    const same = found?.record.uid === record.uid ? found : undefined;
    const owners = new Map([...(same?.owners ?? []), [endpointKey(owner), owner]]);
    this.#held.set(id, { ...same, ...more, record, owners });
  }

  async #compare(signal: AbortSignal): Promise<void> {
    const { store, keys, nodeName } = this.#options;
    const prefix = `${keys.root}/${folders.ovnPods}`;
    const { items } = await store.list(prefix, { signal });
    const own = items.filter((item) => this.#read(item)?.node === nodeName);
    for (const { key } of own) this.#queue.add(key.slice(prefix.length));
    for (const id of this.#held.keys()) this.#queue.add(id);
  }

  async #follow(id: string, signal: AbortSignal): Promise<void> {
    await this.#locks.withKey(id, signal, async () => {
      const held = this.#held.get(id);
      if (held === undefined) await this.#delete(id, signal);
      // A pod that has this name on another node by now has a record of its own.
      else if (held.isOfController !== true)
        await this.#write(held.record, (present) => present === undefined, signal);
    });
  }

  /** @param isDue reports if the record has to be written, by the one that is there @returns the one that is there then */
  async #write(
    record: PodRecord,
    isDue: (present: OvnPodRecord | undefined) => boolean,
    signal: AbortSignal,
  ): Promise<OvnPodRecord> {
    const { store, keys, nodeName } = this.#options;
    const key = keys.ovnPod(record.namespace, record.name);
    const own = { ...record, node: nodeName };
    const value = encodeObject(ovnPodKind, own);
    return repeatOnConflict(async () => {
      const present = await store.get(key, { signal });
      const found = present && this.#read(present);
      if (present !== undefined && !isDue(found)) return found ?? own;
      await store.put(key, value, { expect: present?.revision ?? 'absent', signal });
      return own;
    });
  }

  async #delete(id: string, signal: AbortSignal): Promise<void> {
    const { store, keys, nodeName } = this.#options;
    const slash = id.indexOf('/');
    const key = keys.ovnPod(id.slice(0, slash), id.slice(slash + 1));
    await repeatOnConflict(async () => {
      const present = await store.get(key, { signal });
      if (present === undefined) return;
      const record = this.#read(present);
      if (record?.node !== nodeName || record.source !== undefined) return;
      await store.delete(key, { expect: present.revision, signal });
    });
  }

  #read({ key, value }: Item): OvnPodRecord | undefined {
    try {
      return decodeObject(ovnPodKind, key, value);
    } catch (err) {
      this.#options.log.warn({ err, key }, 'the record of a pod cannot be read');
      return undefined;
    }
  }
}

/** Undefined for pods without namespace, name or UID: they have no record. */
export function identify({ namespace, name, uid }: PodIdentity): PodLife | undefined {
  return namespace === undefined || name === undefined || uid === undefined
    ? undefined
    : { namespace, name, uid };
}

/** The record by which a pod asks for what it has; undefined where its addresses do not come from a controller. */
export function describeHeld(networks: readonly Network[], record: EndpointRecord): PodRecord | undefined {
  const assigned = networkOf(networks, record)?.model.assigned;
  const { attachment } = record.endpoint;
  const pod = identify(record.pod);
  if (assigned === undefined || attachment === undefined || pod === undefined) return undefined;
  return { ...pod, annotations: assigned.askFor(attachment) };
}

const idOf = ({ namespace, name }: PodName): string => `${namespace}/${name}`;

const hasAnswer = (annotations: Annotations): boolean => annotations[annotationNames.isAllocated] === 'true';

const itemsOf = (batch: WatchBatch): readonly Item[] =>
  batch.type === 'snapshot'
    ? batch.items
    : batch.changes.flatMap((change) => (change.type === 'put' ? [change.item] : []));
