/** The state of the cluster in memory. What can be counted is counted from the entries: it cannot drift from them. */
import { FreeNumbers } from '@podwire/ipam';
import type {
  Change,
  ClusterView,
  Endpoint,
  Entries,
  EntryType,
  Global,
  NetworkEntry,
  ObjectType,
  Reference,
  Referrer,
  Reservation,
  Table,
} from './contract.js';
import { highestGroupId } from './allocation/group-ids.js';
import { highestVlan, highestVni } from './objects/tag-range.js';
import { networkId } from './keys.js';
import { NetworkUsage } from './network-usage.js';
import { referencesOf } from './references.js';

type Tables = { readonly [T in EntryType]: Map<string, Entries[T]> };

const none: ReadonlySet<string> = new Set();

export class Cluster implements ClusterView {
  readonly vlans = new FreeNumbers(highestVlan + 1);
  readonly vnis = new FreeNumbers(highestVni + 1);
  readonly localVlans = new FreeNumbers(highestVlan + 1);
  readonly groupIds = new FreeNumbers(highestGroupId + 1);
  #groupCursor = 1;
  readonly #tables: Tables = {
    global: new Map(),
    tenant: new Map(),
    network: new Map(),
    endpointGroup: new Map(),
    policy: new Map(),
    rule: new Map(),
    netprofile: new Map(),
    appProfile: new Map(),
    endpoint: new Map(),
    reservation: new Map(),
  };
  readonly #uses = new Map<string, NetworkUsage>();
  readonly #networkKeys = new Map<string, string>();
  readonly #groupEndpoints = new Map<string, Set<string>>();
  /** By the object that is named, then by the one that names it. */
  readonly #referrers = new Map<string, Map<string, Referrer>>();

  constructor(changes: Iterable<Change> = []) {
    for (const free of [this.vlans, this.vnis, this.localVlans, this.groupIds]) free.take(0);
    this.apply(changes);
    this.#groupCursor = this.#highestGroup() + 1;
  }

  get global(): Global | undefined {
    return this.#tables.global.get('global');
  }

  get groupCursor(): number {
    return this.#groupCursor;
  }

  table<T extends EntryType>(type: T): Table<T> {
    return this.#tables[type];
  }

  use(network: string): NetworkUsage {
    const use = this.#uses.get(network);
    if (use === undefined) throw new Error(`no network ${network}`);
    return use;
  }

  endpointsOf(group: string): ReadonlySet<string> {
    return this.#groupEndpoints.get(group) ?? none;
  }

  referrers(type: ObjectType, key: string): readonly Referrer[] {
    return [...(this.#referrers.get(`${type} ${key}`)?.values() ?? [])];
  }

  networkById(id: string): NetworkEntry | undefined {
    const key = this.#networkKeys.get(id);
    return key === undefined ? undefined : this.#tables.network.get(key);
  }

  /** Makes changes, in their order. Networks come before what is in them. */
  apply(changes: Iterable<Change>): void {
    for (const change of changes) this.#applyOne(change);
  }

  #applyOne<T extends EntryType>({ type, key, value }: Change & { readonly type: T }): void {
    const table = this.#tables[type] as Map<string, Entries[T]>;
    const before = table.get(key);
    if (before !== undefined) this.#note(type, key, before, false);
    else if (type === 'endpointGroup' && value !== undefined)
      // A group that only changes moves nothing: ids behind its own, freed lately, would not rest.
      this.#groupCursor = (value as Entries['endpointGroup']).id + 1;
    if (value === undefined) table.delete(key);
    else {
      table.set(key, value as Entries[T]);
      this.#note(type, key, value as Entries[T], true);
    }
  }

  #note<T extends EntryType>(type: T, key: string, value: Entries[T], isThere: boolean): void {
    if (type === 'endpoint') return this.#noteEndpoint(value as Endpoint, isThere);
    if (type === 'reservation') {
      const { network, address } = value as Reservation;
      return this.#uses.get(network)?.noteReservation(key, address, isThere);
    }
    if (type === 'network') this.#noteNetwork(key, value as NetworkEntry, isThere);
    if (type === 'endpointGroup') mark(this.groupIds, (value as Entries['endpointGroup']).id, isThere);
    const object: { type: ObjectType; key: string } = { type, key };
    for (const reference of referencesOf(object.type, value as never))
      this.#noteReference(object, reference, isThere);
  }

  #noteNetwork(key: string, { config, tags }: NetworkEntry, isThere: boolean): void {
    const isVlan = config.encap === 'vlan';
    mark(isVlan ? this.vlans : this.localVlans, tags.pktTag, isThere);
    if (!isVlan) mark(this.vnis, tags.extPktTag, isThere);
    if (isThere) {
      // Endpoints of a network stay when it is written again.
      this.#uses.set(key, this.#uses.get(key) ?? new NetworkUsage(config));
      this.#networkKeys.set(networkId(config), key);
    } else {
      this.#networkKeys.delete(networkId(config));
      if (this.#uses.get(key)?.isEmpty === true) this.#uses.delete(key);
    }
  }

  /** The id that was handed out last is not stored: behind the highest are those that have rested longest. */
  #highestGroup(): number {
    let highest = 0;
    for (const { id } of this.#tables.endpointGroup.values()) highest = Math.max(highest, id);
    return highest;
  }

  #noteEndpoint(endpoint: Endpoint, isThere: boolean): void {
    const network = this.#networkKeys.get(endpoint.netID);
    if (network !== undefined) this.#uses.get(network)?.noteEndpoint(endpoint, isThere);
    const group = keyOfGroup(endpoint);
    if (group === undefined) return;
    const ids = this.#groupEndpoints.get(group) ?? new Set<string>();
    if (isThere) ids.add(endpoint.id);
    else ids.delete(endpoint.id);
    if (ids.size === 0) this.#groupEndpoints.delete(group);
    else this.#groupEndpoints.set(group, ids);
  }

  #noteReference(from: { type: ObjectType; key: string }, reference: Reference, isThere: boolean): void {
    const target = `${reference.type} ${reference.key}`;
    const referrers = this.#referrers.get(target) ?? new Map<string, Referrer>();
    if (isThere) referrers.set(`${from.type} ${from.key}`, { ...from, reference });
    else referrers.delete(`${from.type} ${from.key}`);
    if (referrers.size === 0) this.#referrers.delete(target);
    else this.#referrers.set(target, referrers);
  }
}

/** `TENANT:GROUP` of an endpoint in a group, whose state is named the other way round. */
export function keyOfGroup({ endpointGroupKey }: Pick<Endpoint, 'endpointGroupKey'>): string | undefined {
  const [group, tenant] = endpointGroupKey.split(':');
  return tenant === undefined ? undefined : `${tenant}:${group}`;
}

function mark(free: FreeNumbers, number: number, isTaken: boolean): void {
  if (isTaken) free.take(number);
  else free.giveBack(number);
}
