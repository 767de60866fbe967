/** Owners of addresses, by pods' annotations and IP objects. It follows changes at the cost of the owners that they are about. */
import { isDeepStrictEqual } from 'node:util';
import type { PodwireError } from '@podwire/errors';
import { type Allocation, SubnetAddresses } from '../allocation/subnet-addresses.js';
import { conflict } from '../problems.js';
import { findRateFaults, readAllocation } from './annotations.js';
import type {
  AddressChanges,
  IpObject,
  NodeObject,
  OvnChange,
  OvnCluster,
  PodObject,
  SubnetCursors,
} from './contract.js';
import { decideIp, type IpView } from './ip-objects.js';
import { nodeOwner, ownerOf, podOwner } from './owners.js';
import { ipOfPod } from './pod-ip.js';

/** Addresses of a subnet that an owner has. */
interface Share {
  readonly owner: string;
  readonly subnet: SubnetAddresses;
  readonly allocation: Allocation;
}

/** Of one owner's part of the cluster, whatever the others have. */
export interface Findings {
  readonly gone: OvnChange[];
  readonly restored: OvnChange[];
  readonly problems: PodwireError[];
}

export class AllocationState {
  readonly addresses: ReadonlyMap<string, SubnetAddresses>;
  readonly #view: IpView;
  /** By owner, as all that follows. */
  readonly #pods = new Map<string, PodObject>();
  readonly #ips = new Map<string, readonly IpObject[]>();
  /** IP objects that stay. */
  readonly #staying = new Map<string, IpObject>();
  #waiting = new Map<string, PodObject>();
  readonly #findings = new Map<string, Findings>();
  readonly #shares = new Map<string, Share[]>();
  #promises: Share[] = [];
  #isContested = false;

  /** @param cursors where searches begin, by the name of the subnet */
  constructor(cluster: OvnCluster, cursors: SubnetCursors) {
    const { subnets, nodes, pods, ips, unreadableSubnets, statefulSets } = cluster;
    this.addresses = new Map(
      subnets.map((subnet) => [subnet.name, new SubnetAddresses(subnet, cursors[subnet.name])]),
    );
    this.#view = {
      ...{ pods: this.#pods, subnets: this.addresses, unreadableSubnets, statefulSets },
      nodes: new Map(nodes.map((node) => [nodeOwner(node.name), node])),
    };
    for (const pod of pods) this.#pods.set(podOwner(pod), pod);
    for (const { name, annotations } of nodes) this.#hold(nodeOwner(name), annotations);
    for (const pod of pods) this.#holdPod(pod);
    for (const ip of ips) {
      this.#ips.set(ownerOf(ip), [...(this.#ips.get(ownerOf(ip)) ?? []), ip]);
      this.#tidy(ip);
    }
    for (const pod of pods) this.#updateIp(pod);
  }

  /** Pods that are to have addresses and have none, in the order of the cluster's list; see {@link follow}. */
  get waiting(): PodObject[] {
    return [...this.#waiting.values()];
  }

  /** Of owners with something to be done or to be said. */
  get findings(): Iterable<Findings> {
    return this.#findings.values();
  }

  ipOf(owner: string): IpObject | undefined {
    return this.#staying.get(owner);
  }

  /** The next plan will find this in the pod's annotations; no other owner gets it before {@link forgetPromises}. */
  promise(owner: string, subnet: SubnetAddresses, allocation: Allocation): void {
    subnet.take(owner, allocation);
    this.#promises.push({ owner, subnet, allocation });
  }

  /** A plan is carried out or not: the next one begins from what is written. */
  forgetPromises(): void {
    for (const { owner, subnet, allocation } of this.#promises) subnet.release(owner, allocation);
    this.#promises = [];
  }

  /**
   * Pods that wait are in the order of their names then, as the list of a store has them.
   * @returns false where only a new state can tell: of owners that both have an address the first one keeps it, and ends of nodes are
   *   facts of the network. This one is of no more use then
   */
  follow({ pods, ips }: AddressChanges): boolean {
    this.forgetPromises();
    const changedIps = ips.flatMap(({ before, after }) => [before ?? [], after ?? []].flat());
    if (this.#isContested || changedIps.some(({ namespace }) => namespace === '')) return false;
    const ids = [...pods.keys()].map((id) => `pod ${id}`);
    const owners = new Set([...ids, ...changedIps.map(ownerOf)]);
    for (const owner of owners) this.#clear(owner);
    for (const [id, pod] of pods) setOrDelete(this.#pods, `pod ${id}`, pod);
    for (const change of ips) this.#listIp(change);
    this.#settle([...owners]);
    this.#waiting = new Map([...this.#waiting].sort(([a], [b]) => (a < b ? -1 : 1)));
    return !this.#isContested;
  }

  #settle(owners: readonly string[]): void {
    const pods = owners.flatMap((owner) => this.#pods.get(owner) ?? []);
    for (const pod of pods) this.#holdPod(pod);
    for (const owner of owners) for (const ip of this.#ips.get(owner) ?? []) this.#tidy(ip);
    for (const pod of pods) this.#updateIp(pod);
  }

  #clear(owner: string): void {
    for (const { subnet, allocation } of this.#shares.get(owner) ?? []) subnet.release(owner, allocation);
    for (const map of [this.#shares, this.#findings, this.#staying, this.#waiting]) map.delete(owner);
  }

  #listIp({ before, after }: AddressChanges['ips'][number]): void {
    if (before !== undefined) {
      const left = this.#ips.get(ownerOf(before))?.filter(({ name }) => name !== before.name) ?? [];
      setOrDelete(this.#ips, ownerOf(before), left.length === 0 ? undefined : left);
    }
    if (after === undefined) return;
    const others = this.#ips.get(ownerOf(after)) ?? [];
    this.#ips.set(ownerOf(after), [...others, after].sort(compareNames));
  }

  #holdPod(pod: PodObject): void {
    if (pod.hasEnded) return;
    const owner = podOwner(pod);
    if (!this.#hold(owner, pod.annotations)) this.#waiting.set(owner, pod);
  }

  /** @returns whether the owner has addresses */
  #hold(owner: string, annotations: NodeObject['annotations']): boolean {
    const held = readAllocation(annotations);
    if (held === undefined) return false;
    const subnet = this.addresses.get(held.subnet);
    if (subnet !== undefined) this.#take({ owner, subnet, allocation: held });
    else if (!this.#view.unreadableSubnets.includes(held.subnet))
      this.#findingsOf(owner).problems.push(
        conflict(`${owner} is in subnet ${held.subnet}, which is not there`),
      );
    return true;
  }

  #take(share: Share): void {
    const { owner, subnet, allocation } = share;
    const outside = allocation.addresses.filter((address) => !subnet.contains(address));
    const contested = subnet.take(owner, allocation);
    this.#isContested ||= contested.length > 0;
    this.#shares.set(owner, [...(this.#shares.get(owner) ?? []), share]);
    const messages = [
      ...outside.map((address) => `${owner} has ${address}, which is not in its subnet ${subnet.name}`),
      ...contested.map(
        (text) => `${owner} and ${subnet.ownerOf(text)} both have ${text} of subnet ${subnet.name}`,
      ),
    ];
    if (messages.length > 0) this.#findingsOf(owner).problems.push(...messages.map(conflict));
  }

  #tidy(ip: IpObject): void {
    const [owner, state] = [ownerOf(ip), decideIp(ip, this.#view)];
    if (typeof state === 'object') {
      this.#findingsOf(owner).gone.push({ type: 'delete-ip', name: ip.name, reason: state.gone });
      return;
    }
    this.#staying.set(owner, ip);
    const subnet = this.addresses.get(ip.subnet);
    if (state === 'kept' && subnet !== undefined) this.#take({ owner, subnet, allocation: ip });
  }

  /** One that was lost comes back from the pod's annotations, and one that is there says of the port what the pod does by now. */
  #updateIp(pod: PodObject): void {
    const held = pod.hasEnded ? undefined : readAllocation(pod.annotations);
    if (held === undefined) return;
    const owner = podOwner(pod);
    const wanted = ipOfPod(pod, held.subnet, held);
    const found = this.#staying.get(owner);
    const faults = findRateFaults(pod.annotations).map((fault) => conflict(`${owner}: ${fault}`));
    if (faults.length > 0) this.#findingsOf(owner).problems.push(...faults);
    if (found?.podUid !== pod.uid) this.#findingsOf(owner).restored.push({ type: 'put-ip', ip: wanted });
    else if (!isSamePort(found, wanted)) {
      const { portAnnotations } = wanted;
      this.#findingsOf(owner).restored.push({ type: 'put-ip', ip: { ...found, portAnnotations } });
    }
  }

  #findingsOf(owner: string): Findings {
    const found = this.#findings.get(owner) ?? { gone: [], restored: [], problems: [] };
    this.#findings.set(owner, found);
    return found;
  }
}

const isSamePort = (one: IpObject, other: IpObject): boolean =>
  isDeepStrictEqual(one.portAnnotations ?? {}, other.portAnnotations ?? {});

const compareNames = (a: IpObject, b: IpObject): number => (a.name < b.name ? -1 : 1);

function setOrDelete<T>(map: Map<string, T>, key: string, value: T | undefined): void {
  if (value === undefined) map.delete(key);
  else map.set(key, value);
}
