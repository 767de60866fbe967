/** Inputs and results of a plan of pods' addresses. */
import type { PodwireError } from '@podwire/errors';
import type { AddressedSubnet, Allocation, Cursors } from '../allocation/subnet-addresses.js';
import type { Underlay } from '../contract.js';
import type { Annotations } from './annotations.js';

export interface PodSubnet extends AddressedSubnet {
  readonly vpc: string;
  /** For pods whose namespace has none of its own. */
  readonly isDefault: boolean;
  /** Those whose pods are in it. */
  readonly namespaces: readonly string[];
  readonly underlay?: Underlay | undefined;
  /** Something is wrong with it: who is in it stays, and nothing of it is handed out. */
  readonly isSuspended?: boolean | undefined;
}

export interface PodObject {
  readonly namespace: string;
  readonly name: string;
  /** Another pod under the same name has another one. */
  readonly uid: string;
  readonly annotations: Annotations;
  readonly node?: string | undefined;
  /** Name of the stateful set that it is one of. */
  readonly statefulSet?: string | undefined;
  /** Its containers have ended for good, or it is being deleted and its time is over. */
  readonly hasEnded: boolean;
}

export interface StatefulSet {
  readonly namespace: string;
  readonly name: string;
  /** The larger one of those that are wanted and those that are there. */
  readonly replicas: number;
  readonly isDeleting: boolean;
}

/** An IP object: who has the addresses. It keeps those of a pod of a stateful set while the pod is away. */
export interface IpObject extends Allocation {
  /** The logical port: `POD.NAMESPACE`, `node-NODE`. */
  readonly name: string;
  /** Empty for a node. */
  readonly namespace: string;
  /** The pod or the node. */
  readonly podName: string;
  readonly subnet: string;
  readonly node?: string | undefined;
  readonly podUid?: string | undefined;
  /** Name of the stateful set of its pod. */
  readonly statefulSet?: string | undefined;
  /** Of its pod: those that the node goes by. None when absent. */
  readonly portAnnotations?: Annotations | undefined;
}

export interface NodeObject {
  readonly name: string;
  /** No pod may have one of these. */
  readonly addresses: readonly string[];
  /** Absent where nodes have none: its IP object says all. */
  readonly annotations?: Annotations | undefined;
  /** As an API server has the node, of all that passes its end of `join`. Absent: those of its IP object stay as they are. */
  readonly rates?: Annotations | undefined;
}

export interface OvnCluster {
  readonly subnets: readonly PodSubnet[];
  /** Names of those that cannot be read: who is in them stays, and which namespaces they have is not known. */
  readonly unreadableSubnets: readonly string[];
  /** All there are. */
  readonly pods: readonly PodObject[];
  /** All there are: the addresses of others are free. */
  readonly nodes: readonly NodeObject[];
  readonly ips: readonly IpObject[];
  readonly statefulSets: readonly StatefulSet[];
  /** `geneve` or `vxlan`: the annotation `network_type` of pods that are not on a network outside. */
  readonly encapsulation: string;
}

/** Changes of a cluster that are followed at the cost of those owners alone. */
export interface AddressChanges {
  /** By NAMESPACE/NAME; undefined: it is gone. */
  readonly pods: ReadonlyMap<string, PodObject | undefined>;
  /** As each was and is: one that has come has no `before`, one that is gone no `after`. */
  readonly ips: readonly { readonly before?: IpObject | undefined; readonly after?: IpObject | undefined }[];
}

export type OvnChange =
  | {
      readonly type: 'annotate';
      readonly what: 'pod' | 'node';
      /** NAMESPACE/NAME of a pod, the name of a node. */
      readonly id: string;
      /** Of the pod that they are for, and no other under its name. */
      readonly uid?: string;
      /** Others stay as they are; an empty one goes. */
      readonly annotations: Annotations;
    }
  | { readonly type: 'put-ip'; readonly ip: IpObject }
  | { readonly type: 'delete-ip'; readonly name: string; readonly reason: string };

export interface AddressPlan {
  /** In their order: an IP object may be deleted and put again. */
  readonly changes: readonly OvnChange[];
  /** Coded errors, each of a pod that cannot be given addresses or of things that contradict each other. */
  readonly problems: readonly PodwireError[];
  /** By the name of the subnet. */
  readonly cursors: SubnetCursors;
}

export type SubnetCursors = Readonly<Record<string, Cursors>>;
