/** Inputs of a plan, and the plan. */
import type { PodwireError } from '@podwire/errors';
import type {
  ClusterNetwork,
  HostSubnet,
  NetNamespace,
  StoredObject,
  UnreadableObject,
} from '@podwire/objects';

export interface ClusterNode {
  readonly name: string;
  /** Identity of the node, which outlives its reboots: another one under the same name is another node. */
  readonly uid: string;
  /** IPv4 address of the underlay, which other nodes send VXLAN to; absent as long as it is not known. */
  readonly address?: string | undefined;
}

/** The objects of OpenShift SDN, as of one look at their source. */
export interface SdnObjects {
  /** The one that is named default. */
  readonly clusterNetwork: StoredObject<ClusterNetwork> | undefined;
  readonly hostSubnets: readonly StoredObject<HostSubnet>[];
  readonly netNamespaces: readonly StoredObject<NetNamespace>[];
  /** Objects of these kinds whose content cannot be read. They are left alone, and what they have is not handed out. */
  readonly unreadable: readonly UnreadableObject[];
}

export interface SdnCluster {
  readonly objects: SdnObjects;
  /** All there are. `default` need not be among them: it is always there. */
  readonly namespaces: readonly string[];
  /** All there are. */
  readonly nodes: readonly ClusterNode[];
}

/**
 * Where the searches for something free begin: behind what was handed out last, so that what comes back rests for a long time. Only
 * a hint: with any of them, and without one after a restart, nothing is handed out twice.
 */
export interface Cursors {
  readonly vnid: number;
  /** Places of the order in which a range is handed out, by CIDR of the range. */
  readonly subnets: Readonly<Record<string, number>>;
}

/** An object as it is and as it shall be, of the same name: created without `before`, deleted without `after`. */
export type Change = (
  | { readonly before: StoredObject<HostSubnet | NetNamespace>; readonly after?: undefined }
  | { readonly before?: undefined; readonly after: HostSubnet | NetNamespace }
  | { readonly before: StoredObject<HostSubnet | NetNamespace>; readonly after: HostSubnet | NetNamespace }
) & {
  /** Why, for a log: `its node is gone`. */
  readonly reason: string;
};

export interface ClusterPlan {
  /** In their order: each takes those in front of it as done, and may use what they give back. */
  readonly changes: readonly Change[];
  /** Coded errors: something cannot be planned, or contradicts something else. The rest is planned. */
  readonly problems: readonly PodwireError[];
  readonly cursors: Cursors;
}

/** The part of a plan that is about one kind. */
export type PlannedPart = Omit<ClusterPlan, 'cursors'>;
