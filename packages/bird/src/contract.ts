/** BGP for the routed model: the routes that a node announces to routers and accepts from them. */

export interface BgpNeighbour {
  /** Address of the router, without a length. */
  readonly address: string;
  readonly asn: number;
  /** Routers that are not on the same segment. */
  readonly multihop?: boolean;
  /** TCP MD5 (RFC 2385). The view's maker reads it from a file; it goes into the daemon's configuration, mode 0600. */
  readonly password?: string;
  /** A route reflector of the own system that this node is: its neighbours of the own system are its clients. */
  readonly reflectorClient?: boolean;
}

export interface BgpView {
  /** Name of the node, for the configuration's head. */
  readonly node: string;
  readonly asn: number;
  /** An IPv4 address, also on nodes that have none: 32 bits that are unique among the speakers. */
  readonly routerId: string;
  /** The node's own addresses on the underlay, without a length: what routers see as next hop. */
  readonly ipv4?: string;
  readonly ipv6?: string;
  readonly neighbours: readonly BgpNeighbour[];
  /** The announced prefixes: the node's confirmed blocks and its borrowed addresses. */
  readonly announced: readonly string[];
  /** The cluster's pools: only what lies in them is taken from routers. */
  readonly pools: readonly string[];
}

/** A session as the daemon sees it. */
export interface BgpSession {
  readonly neighbour: string;
  /** `Established`, `Active`, `Connect`, `Idle`, … (RFC 4271, 8.2.2) */
  readonly state: string;
  /** As the daemon writes it: a time or date. Changes when the session was lost. */
  readonly since: string;
  readonly lastError?: string;
}
