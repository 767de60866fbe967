/** OVN's northbound database as plain data. Rows name others by their names: a port its switch, groups and options. */

type Pairs = { readonly [key: string]: string };

export interface LogicalSwitch {
  readonly kind: 'logical-switch';
  /** Unique among ours; the database does not see to it. */
  readonly name: string;
  readonly otherConfig?: Pairs;
  /** Names of `load-balancer`: those whose addresses its ports reach. It has no others. */
  readonly loadBalancers?: readonly string[];
  readonly externalIds?: Pairs;
}

export interface LogicalSwitchPort {
  readonly kind: 'logical-switch-port';
  /** Unique in the database. A node's interface that has it as its `iface-id` is this port. */
  readonly name: string;
  readonly switch: string;
  /** `router`, `localnet`; a port of a pod or a machine when absent. */
  readonly type?: string;
  /** `00:00:00:11:22:33 10.16.0.5 fd00::5`, `router`, `unknown` */
  readonly addresses: readonly string[];
  /** Addresses of which alone it may send; any when absent. */
  readonly portSecurity?: readonly string[];
  /** Of the type `router`: `router-port`, the name of a `logical-router-port`. Of `localnet`: `network_name`. */
  readonly options?: Pairs;
  /** VLAN of a port of the type `localnet`. */
  readonly tag?: number;
  readonly enabled?: boolean;
  /** Name of a `dhcp-options`. */
  readonly dhcpv4Options?: string;
  readonly dhcpv6Options?: string;
  /** Names of `port-group`: a port says where it is a member, so that one port that comes changes no list of all. */
  readonly groups?: readonly string[];
  readonly externalIds?: Pairs;
}

export interface LogicalRouter {
  readonly kind: 'logical-router';
  /** Unique among ours; the database does not see to it. */
  readonly name: string;
  /** Names of `load-balancer`: those that it serves. It has no others. */
  readonly loadBalancers?: readonly string[];
  readonly options?: Pairs;
  readonly externalIds?: Pairs;
}

/** Its other end is a `logical-switch-port` of the type `router` that names it. */
export interface LogicalRouterPort {
  readonly kind: 'logical-router-port';
  /** Unique in the database. */
  readonly name: string;
  readonly router: string;
  readonly mac: string;
  /** The router's own addresses with their lengths: `10.16.0.1/16`. */
  readonly networks: readonly string[];
  readonly ipv6RaConfigs?: Pairs;
  readonly options?: Pairs;
  readonly externalIds?: Pairs;
}

/** The database has no names of routes, policies, NAT, ACLs, QoS rules and DHCP options: ours is in the mark. */
export interface StaticRoute {
  readonly kind: 'static-route';
  readonly name: string;
  readonly router: string;
  /** An address or a network: of the destination, and with the policy `src-ip` of the source. */
  readonly prefix: string;
  /** Several routes of one prefix share its traffic. `discard` drops it. */
  readonly nextHop: string;
  readonly policy?: 'src-ip' | 'dst-ip';
  /** Name of a router port; it follows from the next hop when absent. */
  readonly outputPort?: string;
  readonly routeTable?: string;
  readonly options?: Pairs;
  readonly externalIds?: Pairs;
}

export interface RouterPolicy {
  readonly kind: 'router-policy';
  readonly name: string;
  readonly router: string;
  /** 0 to 32767; the highest one that matches decides. */
  readonly priority: number;
  /** `ip4.src == $web_ip4`, in OVN's language of logical flows. */
  readonly match: string;
  readonly action: 'allow' | 'drop' | 'reroute';
  /** Of `reroute`; several share the traffic. */
  readonly nextHops?: readonly string[];
  readonly options?: Pairs;
  readonly externalIds?: Pairs;
}

export interface RouterNat {
  readonly kind: 'router-nat';
  readonly name: string;
  readonly router: string;
  readonly type: 'snat' | 'dnat' | 'dnat_and_snat';
  readonly externalIp: string;
  readonly logicalIp: string;
  /** With {@link externalMac}: the node of this switch port translates by itself. */
  readonly logicalPort?: string;
  readonly externalMac?: string;
  readonly options?: Pairs;
  readonly externalIds?: Pairs;
}

/** Matches name it `$NAME`. */
export interface AddressSet {
  readonly kind: 'address-set';
  /** Letters, digits, `_` and `.`; unique in the database. */
  readonly name: string;
  readonly addresses: readonly string[];
  readonly externalIds?: Pairs;
}

/** Matches name it `@NAME`, and the addresses of its ports `$NAME_ip4` and `$NAME_ip6`. Ports say that they are in it. */
export interface PortGroup {
  readonly kind: 'port-group';
  /** Letters, digits, `_` and `.`; unique in the database. */
  readonly name: string;
  readonly externalIds?: Pairs;
}

export interface DhcpOptions {
  readonly kind: 'dhcp-options';
  readonly name: string;
  /** IPv4 or IPv6: it says which of both it is for. */
  readonly cidr: string;
  /** `lease_time`, `router`, `server_id`, `server_mac`, `mtu` */
  readonly options?: Pairs;
  readonly externalIds?: Pairs;
}

/** Of packets that pass the ports of a switch, or those of a group; the highest one that matches decides. */
export interface Acl {
  readonly kind: 'acl';
  readonly name: string;
  readonly on: { readonly switch: string } | { readonly portGroup: string };
  /** `to-lport`: packets to a port, which a match names `outport`. `from-lport`: packets from a port, `inport`. */
  readonly direction: 'to-lport' | 'from-lport';
  /** 0 to 32767 */
  readonly priority: number;
  /** `outport == @web && ip4 && tcp.dst == 80`, in OVN's language of logical flows. */
  readonly match: string;
  /** `allow-related` lets answers pass, too. */
  readonly action: 'allow' | 'allow-related' | 'allow-stateless' | 'drop' | 'reject';
  /** ovn-controller writes each packet into its log. */
  readonly log?: boolean;
  readonly severity?: 'alert' | 'warning' | 'notice' | 'info' | 'debug';
  /** Stands for it in the log: 1 to 63 characters. */
  readonly logName?: string;
  /** Name of a meter that limits the log. */
  readonly logMeter?: string;
  /** `apply-after-lb`: of `from-lport`; the match sees the backend, and no address of a load balancer. */
  readonly options?: Pairs;
  readonly externalIds?: Pairs;
}

/** A limit for packets that pass the ports of a switch; the highest one that matches decides. */
export interface QosRule {
  readonly kind: 'qos-rule';
  readonly name: string;
  readonly switch: string;
  /** `from-lport`: packets from a port, which a match names `inport`. `to-lport`: packets to a port, `outport`. */
  readonly direction: 'to-lport' | 'from-lport';
  /** 0 to 32767 */
  readonly priority: number;
  /** `inport == "web.shop"`, in OVN's language of logical flows. */
  readonly match: string;
  /** All packets that match share it, on each node: a meter drops the others (ovn-nb(5)). */
  readonly bandwidth: {
    /** kbit/s */
    readonly rate: number;
    /** kbit; what ovn-controller has for it when absent. */
    readonly burst?: number;
  };
  readonly externalIds?: Pairs;
}

/** Switches and routers say that they use it. */
export interface LoadBalancer {
  readonly kind: 'load-balancer';
  /** Unique among ours; the database does not see to it. */
  readonly name: string;
  /** Backends by the address that leads to them: `{ '10.96.0.10:53': ['10.16.0.5:53', '10.16.0.6:53'] }`. */
  readonly vips: { readonly [vip: string]: readonly string[] };
  /** `tcp` when absent. Addresses without a port need none. */
  readonly protocol?: 'tcp' | 'udp' | 'sctp';
  /** Connections that are alike in these fields have one backend; without fields each has one by itself. */
  readonly selectionFields?: readonly ('eth_src' | 'eth_dst' | 'ip_src' | 'ip_dst' | 'tp_src' | 'tp_dst')[];
  readonly options?: Pairs;
  readonly externalIds?: Pairs;
}

export interface NorthboundResources {
  'logical-switch': LogicalSwitch;
  'logical-switch-port': LogicalSwitchPort;
  'logical-router': LogicalRouter;
  'logical-router-port': LogicalRouterPort;
  'static-route': StaticRoute;
  'router-policy': RouterPolicy;
  'router-nat': RouterNat;
  'address-set': AddressSet;
  'port-group': PortGroup;
  'dhcp-options': DhcpOptions;
  acl: Acl;
  'qos-rule': QosRule;
  'load-balancer': LoadBalancer;
}

declare module '@podwire/engine' {
  // eslint-disable-next-line @typescript-eslint/no-empty-object-type -- this is how it is extended
  interface ResourceKinds extends NorthboundResources {}
}
