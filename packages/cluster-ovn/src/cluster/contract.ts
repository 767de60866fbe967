/** One look at the cluster, and the plan that is made of it. */
import type { PodwireError } from '@podwire/errors';
import type {
  AnyObject,
  IP,
  ObjectWrite,
  ProviderNetwork,
  StoredObject,
  Subnet,
  UnreadableObject,
  Vlan,
  Vpc,
} from '@podwire/objects';
import type { OvnNode, OvnPod, OvnSubnet, OvnVpc } from '../contract.js';
import type { Annotations } from '../pods/annotations.js';
import type { PodObject, StatefulSet, SubnetCursors } from '../pods/contract.js';

/** The objects of Kube-OVN, as of one look at their source. */
export interface OvnObjects {
  readonly subnets: readonly StoredObject<Subnet>[];
  readonly vpcs: readonly StoredObject<Vpc>[];
  readonly vlans: readonly StoredObject<Vlan>[];
  readonly providerNetworks: readonly StoredObject<ProviderNetwork>[];
  readonly ips: readonly StoredObject<IP>[];
  /** Objects of these kinds whose content cannot be read. They are left alone. */
  readonly unreadable: readonly UnreadableObject[];
}

/** Objects that have a status. */
export type OvnNetworks = Pick<OvnObjects, 'subnets' | 'vpcs' | 'vlans' | 'providerNetworks'>;

/** By the name of a ProviderNetwork: `ready`, or the problem in words, as a node says. It knows nothing yet of others. */
export type ProviderStates = Readonly<Record<string, string>>;

export interface OvnClusterNode {
  readonly name: string;
  /** By which other nodes and pods know it. */
  readonly addresses: readonly string[];
  /** It may be a gateway: its agent is connected to the store. */
  readonly isReachable: boolean;
  /** Empty by default. */
  readonly providers?: ProviderStates;
}

export interface OvnLook {
  readonly objects: OvnObjects;
  /** All there are. */
  readonly nodes: readonly OvnClusterNode[];
  /** All there are. */
  readonly pods: readonly PodObject[];
  /** Pods whose record cannot be read. They keep what they have. */
  readonly unreadablePods: readonly Pick<PodObject, 'namespace' | 'name'>[];
  /** When it was, in milliseconds since 1970. */
  readonly now: number;
}

/** Changes of a look that are followed at the cost of what has changed. */
export interface LookChanges {
  /** By NAMESPACE/NAME. `unreadable`: its record is there and cannot be read; undefined: it is gone. */
  readonly pods: ReadonlyMap<string, PodObject | 'unreadable' | undefined>;
  /** By name; undefined: it is gone. */
  readonly ips: ReadonlyMap<string, StoredObject<IP> | undefined>;
  /** By the name of the node: what it says of ProviderNetworks from now on. */
  readonly providers: ReadonlyMap<string, ProviderStates>;
}

export interface OvnPlanOptions {
  /** Of `listDefaults`. */
  readonly defaults: readonly AnyObject[];
  /** `geneve` or `vxlan`, as pods learn it. */
  readonly encapsulation: string;
  /** Their pods keep addresses while they are away. Empty by default. */
  readonly statefulSets?: readonly StatefulSet[] | undefined;
  /** Annotations of rates, by the names of the nodes that an API server has. None by default. */
  readonly nodeRates?: ReadonlyMap<string, Annotations> | undefined;
}

/** Of the subnets that are made where they are missing. */
export interface OvnDefaults {
  /** Addresses of the subnet `join`: `100.64.0.0/16`, or one of each family. */
  readonly joinCidr: string;
  /** Addresses of the subnet `ovn-default`. */
  readonly defaultCidr: string;
}

/** Facts that plans of the logical network read, by name. */
export interface OvnFacts {
  readonly vpcs: ReadonlyMap<string, OvnVpc>;
  readonly subnets: ReadonlyMap<string, OvnSubnet>;
  readonly nodes: ReadonlyMap<string, OvnNode>;
  readonly pods: ReadonlyMap<string, OvnPod>;
}

export type OvnWrite = ObjectWrite & {
  /** Why, for a log: `its node is gone`. */
  readonly reason: string;
};

export interface PodAnswer {
  /** NAMESPACE/NAME */
  readonly id: string;
  /** Of the pod that it is for, and no other under its name. */
  readonly uid: string;
  /** Others stay as they are; an empty one goes. */
  readonly annotations: Annotations;
}

export interface OvnPlan {
  /** In their order. */
  readonly changes: readonly OvnWrite[];
  /** Answers to pods. Written together with the changes. */
  readonly answers: readonly PodAnswer[];
  /** Coded errors; the rest is planned. */
  readonly problems: readonly PodwireError[];
  readonly cursors: SubnetCursors;
  /** Of what is stored already: nothing is in the logical network that is not written down. */
  readonly facts: OvnFacts;
}
