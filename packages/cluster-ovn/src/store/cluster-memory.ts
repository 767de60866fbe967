/** The cluster in memory, as plans read it: listed once, and followed by a watch from there. */
import { folders, type Keys } from '@podwire/cluster-state';
import { decodeStoredObject, type KeyWrite, objectGroupPrefix, ofKind } from '@podwire/objects';
import type { Clock } from '@podwire/platform';
import type { Change, Expectation, Listing, Revision, Store } from '@podwire/store';
import type { LookChanges, OvnLook, OvnNetworks, OvnObjects } from '../cluster/contract.js';
import { splitId } from '../pods/owners.js';
import { readChanges } from './changes.js';
import { Mirror } from './mirror.js';
import { type PodRecord, readNode, type ReadNode, readPod, type ReadPod, toPod } from './records.js';

export interface ClusterMemoryOptions {
  readonly store: Pick<Store, 'get' | 'list' | 'watch'>;
  readonly keys: Pick<Keys, 'root' | 'ovnGeneration' | 'ovnPod'>;
  readonly clock: Pick<Clock, 'now'>;
}

export interface FollowOptions {
  /** Something is other than before, or {@link ClusterMemory.isLost}. */
  readonly onChange: () => void;
  /** The watch has ended, and what is in memory is lost. */
  readonly onError: (error: unknown, prefix: string) => void;
}

type ReadObject = ReturnType<typeof decodeStoredObject>;

export class ClusterMemory {
  readonly #options: ClusterMemoryOptions;
  readonly #objects: Mirror<ReadObject>;
  readonly #pods: Mirror<ReadPod>;
  readonly #nodes: Mirror<ReadNode>;
  /** Names of nodes whose agents are connected. */
  readonly #leases: Mirror<string>;
  /** But pods. */
  readonly #others: readonly Mirror<unknown>[];
  readonly #mirrors: readonly Mirror<unknown>[];
  /** Of the lists, in the order of the mirrors. */
  #listedAt: readonly Revision[] = [];
  #generation: Expectation = 'absent';
  #isLost = true;

  constructor(options: ClusterMemoryOptions) {
    this.#options = options;
    const { root } = options.keys;
    const [nodes, leases, pods] = (['nodes', 'nodeLeases', 'ovnPods'] as const).map(
      (name) => `${root}/${folders[name]}`,
    ) as [string, string, string];
    const group = objectGroupPrefix(root, { apiVersion: 'kubeovn.io/v1' });
    this.#objects = new Mirror(group, (item) => decodeStoredObject(root, item));
    this.#pods = new Mirror(pods, (item) => readPod(item, pods));
    this.#nodes = new Mirror(nodes, (item) => readNode(item, nodes));
    this.#leases = new Mirror(leases, ({ key }) => key.slice(leases.length));
    this.#others = [this.#objects, this.#nodes, this.#leases];
    this.#mirrors = [this.#pods, ...this.#others];
  }

  /** The revision at the key of the generation that writes of a plan of this depend on. */
  get generation(): Expectation {
    return this.#generation;
  }

  /** At first, and after {@link lose}, until all is listed. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** A write has gone wrong, or something was missed. */
  lose(): void {
    this.#isLost = true;
  }

  /** Reads everything anew. Not beside {@link follow}. @throws PodwireError STORE_UNAVAILABLE, STORE_DENIED */
  async list(signal: AbortSignal): Promise<void> {
    const { store, keys } = this.#options;
    // First: a plan that is carried out after it changes it, whatever the lists have of that plan.
    const generation = await store.get(keys.ovnGeneration, { signal });
    const list = ({ prefix }: Mirror<unknown>): Promise<Listing> => store.list(prefix, { signal });
    // Before subnets: one that was applied before a pod is known with it.
    const pods = await list(this.#pods);
    const others = await Promise.all(this.#others.map(list));
    const listings = [pods, ...others];
    for (const [at, mirror] of this.#mirrors.entries()) mirror.begin(listings[at]!.items);
    this.#listedAt = listings.map(({ revision }) => revision);
    this.#generation = generation?.revision ?? 'absent';
    this.#isLost = false;
  }

  /**
   * Keeps what was listed as the store is, until the signal aborts. One watch of all, since it has one order: a subnet that was
   * applied before a pod is known before the pod. Never rejects.
   */
  async follow({ onChange, onError }: FollowOptions, signal: AbortSignal): Promise<void> {
    const prefix = `${this.#options.keys.root}/`;
    const from = Math.min(...this.#listedAt);
    try {
      for await (const batch of this.#options.store.watch(prefix, { from, signal })) {
        if (signal.aborted) return;
        if (batch.type === 'snapshot') this.lose();
        else if (!this.#apply(batch.changes)) continue;
        onChange();
      }
    } catch (error) {
      if (signal.aborted) return;
      this.lose();
      onError(error, prefix);
    }
  }

  /** @returns whether anything is other than before */
  #apply(changes: readonly Change[]): boolean {
    const keyOf = (change: Change): string => (change.type === 'put' ? change.item.key : change.key);
    const applied = this.#mirrors.map((mirror) =>
      mirror.apply(changes.filter((change) => keyOf(change).startsWith(mirror.prefix))),
    );
    return applied.includes(true);
  }

  /** Own writes, which are known before they are reported. */
  note(written: readonly KeyWrite[], revision: Revision): void {
    this.#generation = revision;
    for (const { write } of written) {
      const { key } = write;
      const mirror = this.#mirrors.find(({ prefix }) => key.startsWith(prefix));
      if (write.op === 'delete') mirror?.note({ type: 'delete', key, revision });
      else mirror?.note({ type: 'put', item: { key, value: write.value, revision } });
    }
  }

  /** All of it. */
  view(): OvnLook {
    const pods = this.#pods.list();
    const reachable = new Set(this.#leases.list());
    return {
      objects: selectObjects(this.#objects.list()),
      nodes: this.#nodes.list().map((node) => ({ ...node, isReachable: reachable.has(node.name) })),
      pods: pods.flatMap(({ found }) => (found === undefined ? [] : [toPod(found)])),
      unreadablePods: pods.filter(({ found }) => found === undefined).map(({ id }) => splitId(id)),
      now: this.#options.clock.now(),
    };
  }

  networks(): OvnNetworks {
    return selectObjects(this.#objects.list(({ stored }) => stored?.object.kind !== 'IP'));
  }

  /** @param id NAMESPACE/NAME */
  podRecord(id: string): PodRecord | undefined {
    const { namespace, name } = splitId(id);
    return this.#pods.get(this.#options.keys.ovnPod(namespace, name))?.found;
  }

  /** There is a record, and nothing is known of it. @param id NAMESPACE/NAME */
  hasUnreadablePod(id: string): boolean {
    const { namespace, name } = splitId(id);
    const read = this.#pods.get(this.#options.keys.ovnPod(namespace, name));
    return read !== undefined && read.found === undefined;
  }

  /** All that can be read. */
  listPodRecords(): PodRecord[] {
    return this.#pods.list().flatMap(({ found }) => found ?? []);
  }

  /** Records that nodes have written which are not in the cluster any more. Looks at all pods. */
  listStranded(): PodRecord[] {
    const nodes = new Set(this.#nodes.list().map(({ name }) => name));
    return this.listPodRecords().filter(
      ({ record: { node, source } }) => source === undefined && node !== undefined && !nodes.has(node),
    );
  }

  /** Since the last call; undefined where a planner cannot follow it, see {@link readChanges}. */
  takeChanges(): LookChanges | undefined {
    return readChanges({
      objects: this.#objects.takeDifferences(),
      pods: this.#pods.takeDifferences(),
      nodes: this.#nodes.takeDifferences(),
      leases: this.#leases.takeDifferences(),
    });
  }
}

function selectObjects(read: readonly ReadObject[]): OvnObjects {
  const stored = read.flatMap((one) => one.stored ?? []);
  return {
    subnets: ofKind<OvnObjects['subnets'][number]>(stored, 'Subnet'),
    vpcs: ofKind<OvnObjects['vpcs'][number]>(stored, 'Vpc'),
    vlans: ofKind<OvnObjects['vlans'][number]>(stored, 'Vlan'),
    providerNetworks: ofKind<OvnObjects['providerNetworks'][number]>(stored, 'ProviderNetwork'),
    ips: ofKind<OvnObjects['ips'][number]>(stored, 'IP'),
    unreadable: read.flatMap((one) => one.unreadable ?? []),
  };
}
