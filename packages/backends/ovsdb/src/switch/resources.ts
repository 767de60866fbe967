/** Open vSwitch as plain data. Others name rows by their names: a port its QoS, a mirror its ports. */

type Pairs = { readonly [key: string]: string };

/** A bridge with its own port of the same name. */
export interface OvsBridge {
  readonly kind: 'ovs-bridge';
  readonly name: string;
  /** `netdev` is the switch in user space; the kernel's when absent. */
  readonly datapathType?: string;
  /** Without a controller, `secure` forwards nothing by itself. */
  readonly failMode?: 'standalone' | 'secure';
  readonly protocols?: readonly string[];
  readonly stp?: boolean;
  readonly rstp?: boolean;
  readonly mcastSnooping?: boolean;
  readonly otherConfig?: Pairs;
  readonly externalIds?: Pairs;
}

export interface OvsInterface {
  readonly name: string;
  /** `internal`, `vxlan`, `geneve`, `patch`; a link of the node when absent. */
  readonly type?: string;
  readonly options?: Pairs;
  readonly mac?: string;
  readonly mtuRequest?: number;
  readonly ofportRequest?: number;
  /** kbit/s; 0 or absent: unlimited. */
  readonly ingressPolicingRate?: number;
  /** kbit */
  readonly ingressPolicingBurst?: number;
  readonly otherConfig?: Pairs;
  readonly externalIds?: Pairs;
}

/** A port of a bridge; several interfaces are a bond. */
export interface OvsPort {
  readonly kind: 'ovs-port';
  /** Of a port: unique on the node. */
  readonly name: string;
  readonly bridge: string;
  readonly interfaces: readonly OvsInterface[];
  readonly tag?: number;
  readonly trunks?: readonly number[];
  readonly vlanMode?: 'trunk' | 'access' | 'native-tagged' | 'native-untagged' | 'dot1q-tunnel';
  readonly bondMode?: 'balance-tcp' | 'balance-slb' | 'active-backup';
  readonly lacp?: 'active' | 'passive' | 'off';
  /** Name of an `ovs-qos`. */
  readonly qos?: string;
  /** Names of `ovs-mirror` that get what leaves by the port: it says so itself, so that one port that comes changes no list of all. */
  readonly mirrors?: readonly string[];
  readonly otherConfig?: Pairs;
  readonly externalIds?: Pairs;
}

/**
 * ovs-vswitchd has made the port, with this number: it acts on rows a moment after they are written, and a number that
 * another port has asked for before is not given. Removing this does nothing.
 */
export interface OvsPortReady {
  readonly kind: 'ovs-port-ready';
  /** Of the port with one interface of the same name. */
  readonly port: string;
  /** Any, when absent. */
  readonly number?: number;
  /** The port has the type `internal`: its link is there with it, and what is on the link comes after this. */
  readonly isLink?: boolean;
}

/**
 * ovn-controller has put in the flows of the port (`external_ids:ovn-installed`, ovn-controller(8)): before that, packets of
 * a pod are lost. It comes after {@link OvsPortReady} of the port. Removing this does nothing. Where it is not so later,
 * a look says it, and a reconcile reports it and waits for nothing: that is for OVN to put right.
 */
export interface OvsPortInstalled {
  readonly kind: 'ovs-port-installed';
  /** Of the port with one interface of the same name, which has an `iface-id`. */
  readonly port: string;
  /** Milliseconds to wait; 30,000 when absent. */
  readonly timeout?: number;
}

/** The database has no names of them: ours is in the mark. */
export interface OvsQos {
  readonly kind: 'ovs-qos';
  readonly name: string;
  /** `linux-htb` */
  readonly type: string;
  /** Names of `ovs-queue`, by number. */
  readonly queues?: { readonly [number: string]: string };
  readonly otherConfig?: Pairs;
  readonly externalIds?: Pairs;
}

export interface OvsQueue {
  readonly kind: 'ovs-queue';
  readonly name: string;
  readonly dscp?: number;
  readonly otherConfig?: Pairs;
  readonly externalIds?: Pairs;
}

export interface OvsMirror {
  readonly kind: 'ovs-mirror';
  /** Unique on the node. */
  readonly name: string;
  readonly bridge: string;
  readonly selectAll?: boolean;
  /** Names of ports: it gets what comes in by them. What leaves by a port is the port's to say. */
  readonly selectSrcPorts?: readonly string[];
  readonly selectVlans?: readonly number[];
  readonly outputPort?: string;
  readonly outputVlan?: number;
  readonly externalIds?: Pairs;
}

/**
 * One key of `external_ids` of the whole switch (ovn-controller(8), ovs-vswitchd.conf.db(5)): `ovn-remote`, `ovn-encap-ip`,
 * `system-id`. It takes the place of a value that another program has set, which does not come back: an administrator who
 * configures Podwire with a value wants that one. A mark beside it (`podwire/KEY`, with the value) says that it is ours.
 * Removal takes it away, unless another program has set another value since.
 */
export interface OvsSetting {
  readonly kind: 'ovs-setting';
  readonly key: string;
  readonly value: string;
}

/**
 * One entry `NAME:VALUE` of a comma list in such a key: `net1:br-net1` of `ovn-bridge-mappings`, after the bridge. Entries of
 * others stay; one with the same name is taken over, as {@link OvsSetting} has it. Its mark is `podwire/KEY/NAME`. The key
 * goes with its last entry. No list is both this and an {@link OvsSetting}.
 */
export interface OvsSettingEntry {
  readonly kind: 'ovs-setting-entry';
  /** Of the list. */
  readonly key: string;
  readonly name: string;
  readonly value: string;
}

export interface SwitchResources {
  'ovs-bridge': OvsBridge;
  'ovs-port': OvsPort;
  'ovs-port-ready': OvsPortReady;
  'ovs-port-installed': OvsPortInstalled;
  'ovs-qos': OvsQos;
  'ovs-queue': OvsQueue;
  'ovs-mirror': OvsMirror;
  'ovs-setting': OvsSetting;
  'ovs-setting-entry': OvsSettingEntry;
}

declare module '@podwire/engine' {
  // eslint-disable-next-line @typescript-eslint/no-empty-object-type -- this is how it is extended
  interface ResourceKinds extends SwitchResources {}
}
