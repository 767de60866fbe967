/**
 * Resources: plain data, each naming one thing the node must have. A network model returns lists of them; the
 * engine makes them so, checks them and takes them away again. They are written into endpoint records as JSON, so
 * every field is a string, number, boolean or an array or object of these. Addresses and prefixes are text.
 *
 * The order of a list is its order of creation; removal runs in reverse. Neighbours in the list that speak to the
 * same kernel interface in the same namespace travel in one call, so a model groups them where it can.
 */

/** Where a resource lives: the node's own network namespace or that of the pod that owns the list. */
export type Side = 'host' | 'pod';

export interface LinkEnd {
  readonly name: string;
  /** `aa:bb:cc:dd:ee:ff` */
  readonly mac: string;
}

/** A veth pair, its second end born in the pod's namespace. Both ends start down; see {@link LinkUp}. */
export interface Veth {
  readonly kind: 'veth';
  readonly host: LinkEnd;
  readonly pod: LinkEnd;
  /** bytes */
  readonly mtu: number;
}

/** An intermediate functional block device, for shaping what comes out of a pod. Created up. */
export interface Ifb {
  readonly kind: 'ifb';
  readonly name: string;
  readonly mtu: number;
}

/**
 * The node's end of VXLAN tunnels to all its peers: no learning, what is where is said by {@link ForwardingEntry}. It starts
 * down; see {@link LinkUp}. Addresses, permanent neighbours and forwarding entries on it are all Podwire's: reconcile takes away
 * what nobody wants. One that is there with another id, port, address or underlay is made anew; MAC and MTU are set.
 */
export interface Vxlan {
  readonly kind: 'vxlan';
  readonly name: string;
  readonly mac: string;
  /** VXLAN network identifier */
  readonly id: number;
  /** UDP */
  readonly port: number;
  /** Address of the node that tunnels begin at. */
  readonly local: string;
  /** The link that has this address; packets leave through it. */
  readonly underlay?: string;
  readonly mtu: number;
}

/** Frames for this MAC leave the tunnel towards that address (`bridge fdb`). */
export interface ForwardingEntry {
  readonly kind: 'forwarding-entry';
  readonly in: Side;
  readonly link: string;
  readonly mac: string;
  /** Address of the peer's node. */
  readonly remote: string;
}

/** The link is administratively up. Removing it does nothing: the link itself is removed by its own resource. */
export interface LinkUp {
  readonly kind: 'link-up';
  readonly in: Side;
  readonly link: string;
}

/**
 * What is sent through the link really leaves. The end of a veth that came up first gets its carrier when the second does, but
 * a worker of the kernel acts on that later (net/core/link_watch.c), and until then everything sent is dropped without a word.
 * Asking for the link makes the kernel act at once. Removing it does nothing.
 */
export interface LinkReady {
  readonly kind: 'link-ready';
  readonly in: Side;
  readonly link: string;
}

/** `manual` switches the kernel's automatic IPv6 link-local address off (IN6_ADDR_GEN_MODE_NONE); set before the link is up. */
export interface LinkLocalMode {
  readonly kind: 'link-local-mode';
  readonly in: Side;
  readonly link: string;
  readonly mode: 'automatic' | 'manual';
}

/** An address on a link. IPv6 addresses skip duplicate address detection (IFA_F_NODAD): IPAM has made sure. */
export interface IpAddress {
  readonly kind: 'address';
  readonly in: Side;
  readonly link: string;
  /** ADDRESS/LENGTH */
  readonly address: string;
  readonly scope?: 'global' | 'link' | 'host';
}

export interface IpRoute {
  readonly kind: 'route';
  readonly in: Side;
  /** `local`: the node takes packets for the destination as its own when they come in through `link`. */
  readonly type?: 'unicast' | 'blackhole' | 'local';
  /** ADDRESS/LENGTH; `0.0.0.0/0` and `::/0` are the default routes. */
  readonly destination: string;
  readonly link?: string;
  readonly gateway?: string;
  readonly scope?: 'global' | 'link' | 'host';
  readonly onlink?: boolean;
  readonly metric?: number;
  /** Routing table; the main table (254) when absent. */
  readonly table?: number;
  /** bytes; the route's MTU when it differs from the link's. */
  readonly mtu?: number;
}

/** A routing policy rule: what is sent from `from` looks in `table`. For pods with more than one interface. */
export interface IpRule {
  readonly kind: 'rule';
  readonly in: Side;
  /** ADDRESS/LENGTH; also says the family. */
  readonly from: string;
  readonly table: number;
  readonly priority: number;
}

/** A permanent neighbour entry. */
export interface Neighbour {
  readonly kind: 'neighbour';
  readonly in: Side;
  readonly link: string;
  readonly address: string;
  readonly mac: string;
}

/** A kernel parameter. `key` is below /proc/sys, with slashes: `net/ipv4/ip_forward`. */
export interface Sysctl {
  readonly kind: 'sysctl';
  readonly in: Side;
  readonly key: string;
  readonly value: string;
  /** A parameter that this kernel does not have is no error. */
  readonly optional?: boolean;
  /** Set when the list is applied and never compared: what becomes of it afterwards is up to the pod. */
  readonly initial?: boolean;
}

/** A token bucket as the root qdisc of a link (tc-tbf(8)): shapes what leaves through it. */
export interface TokenBucket {
  readonly kind: 'token-bucket';
  readonly in: Side;
  readonly link: string;
  /** bits per second */
  readonly rate: number;
  /** bytes */
  readonly burst: number;
  /** bytes that may wait before packets are dropped */
  readonly limit: number;
}

/** Everything that arrives on `link` is sent out of `target` first (ingress qdisc, match-all filter, mirred). */
export interface IngressRedirect {
  readonly kind: 'ingress-redirect';
  readonly in: Side;
  readonly link: string;
  readonly target: string;
}

/** A whole nftables table, owned by Podwire: declared as a script without `table` line, compared by digest. */
export interface NftTable {
  readonly kind: 'nft-table';
  readonly family: 'ip' | 'ip6' | 'inet';
  readonly name: string;
  /** What stands between the braces of `table FAMILY NAME { … }`. Element contents of its sets are not part of it. */
  readonly body: string;
}

/**
 * Where the policy of iptables' FORWARD drops, packets that come in or go out by one of the links are accepted in its place. Nothing
 * where iptables is not used. `iptables-legacy` keeps its rules elsewhere and is not seen.
 */
export interface ForwardAccept {
  readonly kind: 'forward-accept';
  readonly family: 'ip' | 'ip6';
  /** Name of the chain of ours that FORWARD jumps to. */
  readonly chain: string;
  /** Names, or beginnings of names with a `*`. */
  readonly links: readonly string[];
}

/** One typed component of a set element's key or value. */
export type NftValue =
  | { readonly type: 'ipv4_addr' | 'ipv6_addr'; readonly value: string }
  | { readonly type: 'inet_service'; readonly value: number }
  | { readonly type: 'inet_proto'; readonly value: 'tcp' | 'udp' | 'sctp' }
  | { readonly type: 'ifname'; readonly value: string };

/** One element of a named set or map in a table that an {@link NftTable} declares. Exact keys only, no intervals. */
export interface NftElement {
  readonly kind: 'nft-element';
  readonly family: NftTable['family'];
  readonly table: string;
  readonly set: string;
  readonly key: readonly NftValue[];
  /** For maps. */
  readonly value?: readonly NftValue[];
}

/**
 * No connection-tracking entry of earlier owners survives for this destination: applied and removed alike by
 * deleting the entries whose original destination matches. It leaves nothing behind and is never adrift.
 */
export interface ConntrackReset {
  readonly kind: 'conntrack-reset';
  readonly protocol: 'tcp' | 'udp' | 'sctp';
  /** Original destination address; any address of the family when absent. */
  readonly address?: string;
  readonly family: 4 | 6;
  /** Original destination port; any when absent. */
  readonly port?: number;
}

export type Resource =
  | Veth
  | Ifb
  | Vxlan
  | LinkUp
  | LinkReady
  | LinkLocalMode
  | IpAddress
  | IpRoute
  | IpRule
  | Neighbour
  | ForwardingEntry
  | Sysctl
  | TokenBucket
  | IngressRedirect
  | NftTable
  | ForwardAccept
  | NftElement
  | ConntrackReset;

/** Resources that are links of the node, with what the kernel takes away with them. */
export type LinkResource = Veth | Ifb | Vxlan;

export type ResourceKind = Resource['kind'];
