/**
 * Facts that the plans of a gateway depend on. Addresses are text without length, ranges are ADDRESS/LENGTH, both in
 * the form in which the kernel shows them. Ranges of subnets do not overlap.
 */

/** A range of the subnet `join`, which joins the nodes to the logical router. */
export interface JoinRange {
  readonly cidr: string;
  /** The router's end: the next hop to all other subnets. */
  readonly gateway: string;
}

/** The node that is a gateway: of its own pods, and of subnets that name it. */
export interface GatewayNode {
  readonly name: string;
  /** By which other nodes know it: at most one of each family. */
  readonly addresses: readonly string[];
  /** At most one of each family. */
  readonly join: readonly JoinRange[];
  /** Ranges of the cluster IPs of services. */
  readonly services: readonly string[];
  /** Addresses of a DNS cache that every node has; pods speak to it with their own addresses. */
  readonly localDns: readonly string[];
  /** The link that tunnels leave by, and the MTU of pods in bytes. Absent where it is not known. */
  readonly tunnel?: { readonly link: string; readonly mtu: number };
  /** The link that gateways outside of the cluster are reached by. */
  readonly uplink: string;
}

/** A gateway outside of the cluster, which the packets of a subnet are routed to with their own addresses. */
export interface EgressGateway {
  /** `externalEgressGateway`: at most one of each family. */
  readonly addresses: readonly string[];
  /** `policyRoutingTableID`; no other subnet has it. */
  readonly table: number;
  /** `policyRoutingPriority` */
  readonly priority: number;
}

/** A subnet of the default VPC without VLAN. Packets of others never pass a node, so there is no plan for them. */
export interface GatewaySubnet {
  readonly name: string;
  /** At most one of each family. */
  readonly cidrs: readonly string[];
  /** `distributed`: pods leave through their own nodes. Otherwise all of them leave through these. */
  readonly through:
    | 'distributed'
    | readonly {
        readonly node: string;
        /** The source of packets that leave through it. */
        readonly address?: string;
      }[];
  /** `natOutgoing`, or `externalEgressGateway`, which excludes it. Absent: neither. */
  readonly outgoing?: 'nat' | EgressGateway;
}

/** A pod of this node with addresses of its own. */
export interface GatewayPod {
  readonly subnet: string;
  readonly addresses: readonly string[];
}
