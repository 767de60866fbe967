/** OVN's northbound database as plain data. Rows name others by their names: a port its switch, groups and options. */

type Pairs = { readonly [key: string]: string };

export interface LogicalSwitch {
  readonly kind: 'logical-switch';
  /** Unique among ours; the database does not see to it. */
  readonly name: string;
  readonly otherConfig?: Pairs;
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

/** The database has no names of routes, policies, NAT and DHCP options: ours is in the mark. */
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
}

declare module '@podwire/engine' {
  // eslint-disable-next-line @typescript-eslint/no-empty-object-type -- this is how it is extended
  interface ResourceKinds extends NorthboundResources {}
}
