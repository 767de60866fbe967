/** The data that flows are planned from. All addresses are IPv4: OpenShift SDN has no other family. */

/**
 * How projects are kept apart: not at all, or each by its VNID. OpenShift names them `redhat/openshift-ovs-subnet`
 * and `redhat/openshift-ovs-multitenant`.
 */
export type SdnMode = 'subnet' | 'multitenant';

/**
 * `datapath_type` of the bridge. With `system`, the kernel's, switch and packet filter of the node know the same
 * connections. With `netdev`, for kernels without the module openvswitch, the switch has a table of connections of
 * its own.
 */
export type Datapath = 'system' | 'netdev';

/** This node: its HostSubnet and the ClusterNetwork. */
export interface SdnNode {
  /** The address that tunnels of other nodes lead to. */
  readonly address: string;
  /** ADDRESS/LENGTH: the addresses of its pods. The first one is that of the node itself, on `tun0`. */
  readonly subnet: string;
  /** ADDRESS/LENGTH: the addresses of all pods of the cluster. */
  readonly clusterNetworks: readonly string[];
  /** ADDRESS/LENGTH: the addresses of services. */
  readonly serviceNetwork: string;
  readonly mode: SdnMode;
  readonly datapath: Datapath;
  /** UDP port of tunnels; 4789 unless the ClusterNetwork says otherwise. */
  readonly vxlanPort: number;
  /** While the cluster moves to OVN-Kubernetes: its nodes send everything to the MAC address of this node. */
  readonly migration?: Migration;
}

export interface Migration {
  /** Of the link with the node's address. */
  readonly nodeMac: string;
  /** Of `tun0`; another one. */
  readonly gatewayMac: string;
}

/** A pod of this node. Its MAC address must be {@link podMac} of its address. */
export interface SdnPod {
  readonly ip: string;
  /** Number of its port on the bridge. */
  readonly port: number;
  /** Of its project. In the mode `subnet` it does not count. */
  readonly vnid: number;
}

/** Another node, by its HostSubnet. */
export interface SdnPeer {
  /** `metadata.uid`. */
  readonly uid: string;
  /** `hostIP`. */
  readonly address: string;
  /** ADDRESS/LENGTH */
  readonly subnet: string;
  /** The annotation `pod.network.openshift.io/fixed-vnid-host`: everything that is sent to it has this VNID. */
  readonly fixedVnid?: number;
}
