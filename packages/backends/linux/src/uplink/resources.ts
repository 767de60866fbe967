/**
 * The uplink of a node has joined a bridge, and the node's own traffic goes through the bridge: what is on `from` (addresses that are
 * not link-local, routes by it, rules that name it) is on `to`, with all that the kernel shows of it. Removal moves
 * everything back that is on `to` then. What another program puts onto `from` later is moved as well. Permanent neighbours
 * stay. Routes with next-hop objects are refused. Temporary addresses of IPv6 come as others with their lifetimes.
 */
export interface UplinkMoved {
  readonly kind: 'uplink-moved';
  readonly in: 'host';
  readonly from: string;
  /** It is up, and Podwire's: its alias says what is on it. */
  readonly to: string;
  /** Keys of what must be there first: the port that `from` is. */
  readonly after?: readonly string[];
}

/** The kinds of this backend, by name. */
export interface UplinkResources {
  'uplink-moved': UplinkMoved;
}
