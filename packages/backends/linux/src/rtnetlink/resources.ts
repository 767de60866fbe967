import type { Place } from '../places.js';

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
 * down; see {@link LinkUp}. Addresses, permanent neighbours and forwarding entries on it are all Podwire's: reconcile removes
 * those that are in no list. One that is there with another id, port, address or underlay is made anew; MAC and MTU are set.
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
  readonly in: Place;
  readonly link: string;
  readonly mac: string;
  /** Address of the peer's node. */
  readonly remote: string;
}

/** The link is administratively up. Removing it does nothing: the link itself is removed by its own resource. */
export interface LinkUp {
  readonly kind: 'link-up';
  readonly in: Place;
  readonly link: string;
}

/**
 * Packets sent through the link really leave. The end of a veth that came up first gets its carrier when the second
 * does, but a worker of the kernel acts on that later (net/core/link_watch.c), and until then everything sent is
 * dropped without a word. Asking for the link makes the kernel act at once. Removing it does nothing.
 */
export interface LinkReady {
  readonly kind: 'link-ready';
  readonly in: Place;
  readonly link: string;
}

/** `manual` switches the kernel's automatic IPv6 link-local address off (IN6_ADDR_GEN_MODE_NONE); set before the link is up. */
export interface LinkLocalMode {
  readonly kind: 'link-local-mode';
  readonly in: Place;
  readonly link: string;
  readonly mode: 'automatic' | 'manual';
}

/** An address on a link. IPv6 addresses skip duplicate address detection (IFA_F_NODAD): IPAM has made sure. */
export interface IpAddress {
  readonly kind: 'address';
  readonly in: Place;
  readonly link: string;
  /** ADDRESS/LENGTH */
  readonly address: string;
  readonly scope?: 'global' | 'link' | 'host';
  /** An IPv4 address on a link that is not Podwire's: a label says whose it is, so that one that is not wanted any more is found. */
  readonly marked?: boolean;
}

export interface IpRoute {
  readonly kind: 'route';
  readonly in: Place;
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
  readonly in: Place;
  /** ADDRESS/LENGTH; also says the family. */
  readonly from: string;
  readonly table: number;
  readonly priority: number;
}

/** A permanent neighbour entry. */
export interface Neighbour {
  readonly kind: 'neighbour';
  readonly in: Place;
  readonly link: string;
  readonly address: string;
  readonly mac: string;
}

/**
 * A neighbour on a link answers: the gateway of a pod, as soon as the network forwards its packets. The kernel asks (ARP, NDP)
 * until there is an answer. That of IPv6 asks from a link-local address, which is usable a second after the link is up
 * unless it was made without duplicate address detection ({@link LinkLocalMode}, {@link IpAddress}). Nothing is looked at
 * later, nothing repaired, and removing it does nothing.
 */
export interface NeighbourAnswers {
  readonly kind: 'neighbour-answers';
  readonly in: Place;
  readonly link: string;
  readonly address: string;
  /** Milliseconds to wait; 30,000 when absent. */
  readonly timeout?: number;
  /** Keys of what must be there for an answer: the address to ask from, the port at the other end of the link. */
  readonly after?: readonly string[];
}

/** A token bucket as the root qdisc of a link (tc-tbf(8)): shapes what leaves through it. */
export interface TokenBucket {
  readonly kind: 'token-bucket';
  readonly in: Place;
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
  readonly in: Place;
  readonly link: string;
  readonly target: string;
}

/** The kinds of this backend, by name. */
export interface RtnetlinkResources {
  veth: Veth;
  ifb: Ifb;
  vxlan: Vxlan;
  'forwarding-entry': ForwardingEntry;
  'link-up': LinkUp;
  'link-ready': LinkReady;
  'link-local-mode': LinkLocalMode;
  address: IpAddress;
  route: IpRoute;
  rule: IpRule;
  neighbour: Neighbour;
  'neighbour-answers': NeighbourAnswers;
  'token-bucket': TokenBucket;
  'ingress-redirect': IngressRedirect;
}
