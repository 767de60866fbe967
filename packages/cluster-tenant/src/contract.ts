/** The state of the master of the model tenant: objects as they were asked for, with what was handed out to them. */
import type { z } from 'zod';
import type {
  appProfileSchema,
  groupSchema,
  netprofileSchema,
  networkSchema,
  policySchema,
  ruleSchema,
  tenantSchema,
} from './objects/schemas.js';

export type Tenant = Readonly<z.infer<typeof tenantSchema>>;
export type Network = Readonly<z.infer<typeof networkSchema>>;
export type EndpointGroup = Readonly<z.infer<typeof groupSchema>>;
export type Policy = Readonly<z.infer<typeof policySchema>>;
export type Rule = Readonly<z.infer<typeof ruleSchema>>;
export type Netprofile = Readonly<z.infer<typeof netprofileSchema>>;
export type AppProfile = Readonly<z.infer<typeof appProfileSchema>>;

export interface Global {
  readonly name: 'global';
  readonly networkInfraType: 'default';
  readonly vlans: string;
  readonly vxlans: string;
  readonly fwdMode: 'bridge' | 'routing';
  readonly arpMode: 'proxy' | 'flood';
  readonly pvtSubnet: string;
}

/** Numbers that a network has on the wire. */
export interface NetworkTags {
  /** The VLAN; with the encap vxlan the one that stands for the VNI within a node. */
  readonly pktTag: number;
  /** The VNI; 0 with the encap vlan. */
  readonly extPktTag: number;
}

/** A network as it was asked for, and what it was given. */
export interface NetworkEntry {
  readonly config: Network;
  readonly tags: NetworkTags;
}

export interface GroupEntry {
  readonly config: EndpointGroup;
  /** 1 to 65535, by which policy knows the group in a packet. */
  readonly id: number;
}

/** As the original stores it, by its names. */
export interface Endpoint {
  /** `NETWORK.TENANT-CONTAINER` */
  readonly id: string;
  /** `NETWORK.TENANT` */
  readonly netID: string;
  readonly endpointID: string;
  /** The group; empty without one. */
  readonly serviceName: string;
  readonly endpointGroupId: number;
  /** `GROUP:TENANT` */
  readonly endpointGroupKey: string;
  readonly ipAddress: string;
  /** Empty in a network without IPv6. */
  readonly ipv6Address: string;
  readonly macAddress: string;
  readonly homingHost: string;
  readonly intfName: string;
  readonly vtepIP: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly containerId: string;
  readonly epCommonName: string;
}

/** An address that a runtime has asked for before its endpoint is there. */
export interface Reservation {
  /** Key of the network, `TENANT:NETWORK`. */
  readonly network: string;
  /** Key of the group from whose pool it is, `TENANT:GROUP`; empty without. */
  readonly group: string;
  readonly address: string;
}

/** All kinds of entries, by the names of the original's types. */
export interface Entries {
  readonly global: Global;
  readonly tenant: Tenant;
  readonly network: NetworkEntry;
  readonly endpointGroup: GroupEntry;
  readonly policy: Policy;
  readonly rule: Rule;
  readonly netprofile: Netprofile;
  readonly appProfile: AppProfile;
  readonly endpoint: Endpoint;
  readonly reservation: Reservation;
}

export type EntryType = keyof Entries;

/** Objects that other objects name. */
export type ObjectType = Exclude<EntryType, 'endpoint' | 'reservation'>;

/** An entry as it shall be; without `value` it goes. */
export type Change = {
  [T in EntryType]: { readonly type: T; readonly key: string; readonly value: Entries[T] | undefined };
}[EntryType];

/** The outcome of a request, of which nothing is done yet. */
export interface Plan<Answer = unknown> {
  /** In order: each takes those in front of it as done. */
  readonly changes: readonly Change[];
  /** The answer, once the changes are made. */
  readonly answer: (cluster: ClusterView) => Answer;
}

/** The table of one kind, to look at. */
export type Table<T extends EntryType> = ReadonlyMap<string, Entries[T]>;

/** Which numbers and addresses are free. */
export interface FreeSet {
  isFree(number: number): boolean;
  /** The first free one at or behind `from`. */
  firstFrom(from: number): number | undefined;
  next(start: number): number | undefined;
}

export interface NetworkUse {
  /** Ids of the endpoints. */
  readonly endpoints: ReadonlySet<string>;
  /** Keys of the reservations. */
  readonly reservations: ReadonlySet<string>;
  /** Places in the subnet that no endpoint, reservation or gateway has. */
  readonly free: FreeSet;
  /** IPv6 addresses of the gateway and of endpoints, as numbers. */
  readonly taken6: ReadonlySet<bigint>;
  /** The highest of them, or the subnet's own: the search for another one begins behind it. */
  readonly last6: bigint;
}

export interface Reference {
  readonly type: ObjectType;
  readonly key: string;
  /** How an answer names the other end; absent for a use that the original has no link for. */
  readonly forward?: LinkName;
  readonly backward?: LinkName;
}

export interface LinkName {
  /** One link of this name, or a set of them. */
  readonly among: 'links' | 'link-sets';
  readonly name: string;
}

/** An object that names another one. */
export interface Referrer {
  readonly type: ObjectType;
  readonly key: string;
  readonly reference: Reference;
}

/** The state of the cluster as plans read it. */
export interface ClusterView {
  readonly global: Global | undefined;
  table<T extends EntryType>(type: T): Table<T>;
  /** Use of a network by its key. */
  use(network: string): NetworkUse;
  /** Ids of the endpoints of a group, by its key. */
  endpointsOf(group: string): ReadonlySet<string>;
  /** Which objects name this one. */
  referrers(type: ObjectType, key: string): readonly Referrer[];
  /** The network by its id `NETWORK.TENANT`. */
  networkById(id: string): NetworkEntry | undefined;
  readonly vlans: FreeSet;
  readonly vnis: FreeSet;
  /** VLANs that stand for VNIs within a node. */
  readonly localVlans: FreeSet;
  readonly groupIds: FreeSet;
  /** Behind the group id that was handed out last: what comes back rests for a long time. */
  readonly groupCursor: number;
}
