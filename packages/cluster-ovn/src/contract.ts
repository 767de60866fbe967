/** Facts that plans of the logical network read: what is wanted of Kube-OVN's objects, without their history. */

import type { PodwireError } from '@podwire/errors';

/** A router of its own for the subnets in it; those of different VPCs do not reach each other. */
export interface OvnVpc {
  /** The one that nodes are in. Its pods reach the outside through their nodes. */
  readonly isDefault: boolean;
  /** Of a VPC that is not the default one. */
  readonly staticRoutes: readonly VpcRoute[];
}

export interface VpcRoute {
  /** `policyDst`: `cidr` is a destination. `policySrc`: it is a source. */
  readonly policy: 'policyDst' | 'policySrc';
  readonly cidr: string;
  readonly nextHopIP: string;
}

export interface OvnSubnet {
  readonly vpc: string;
  /** One of each family at most. */
  readonly ranges: readonly SubnetRange[];
  /** The way out of the cluster. Of the default VPC alone. */
  readonly egress: Egress;
  /** Its pods are on a network outside of OVN, which has the gateway. */
  readonly underlay?: Underlay | undefined;
  /** It is private: ranges beside its own that reach its pods. Absent: everything does. */
  readonly allowedRanges?: readonly string[] | undefined;
  /** Why it cannot be made or changed as it is: the rows of before stay. */
  readonly fault?: PodwireError | undefined;
}

export interface SubnetRange {
  /** `10.16.0.0/16` */
  readonly cidr: string;
  /** `10.16.0.1` */
  readonly gateway: string;
}

/** `distributed`: through the node of each pod. `centralized`: through these nodes, those of them that work. */
export type Egress =
  { readonly type: 'distributed' } | { readonly type: 'centralized'; readonly nodes: readonly string[] };

export interface Underlay {
  /** Name of the provider network, as the nodes' `ovn-bridge-mappings` have it. */
  readonly provider: string;
  /** 0: packets have no tag. */
  readonly vlan: number;
}

/** A node with its end of the subnet `join`. */
export interface OvnNode {
  readonly mac: string;
  /** On the subnet `join`, one of each family at most. */
  readonly joinAddresses: readonly string[];
  /** By which other nodes and pods know it: the InternalIPs. */
  readonly addresses: readonly string[];
  /** bit/s, as the node sees the direction, of all that passes its end of `join`; absent: as much as it can. */
  readonly ingressRate?: number | undefined;
  readonly egressRate?: number | undefined;
}

/** A pod with its addresses. Not there before they have been allocated. */
export interface OvnPod {
  readonly namespace: string;
  readonly name: string;
  readonly subnet: string;
  /** Absent while it has no node. */
  readonly node?: string | undefined;
  readonly mac: string;
  /** One of each family at most. */
  readonly addresses: readonly string[];
  /** It may send from its own addresses alone. */
  readonly hasPortSecurity: boolean;
  /** bit/s; absent: it sends as much as it can. */
  readonly egressRate?: number | undefined;
}

declare module '@podwire/planner' {
  interface FactKinds {
    /** By name. */
    'ovn-vpc': OvnVpc | undefined;
    /** By name. */
    'ovn-subnet': OvnSubnet | undefined;
    /** By name. */
    'ovn-node': OvnNode | undefined;
    /** All of them, by name: those with an end of the subnet `join`. */
    'ovn-nodes': ReadonlyMap<string, OvnNode>;
    /** By NAMESPACE/NAME. */
    'ovn-pod': OvnPod | undefined;
  }
}
