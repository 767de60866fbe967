import type {
  Filter,
  ForwardingEntry,
  InterfaceAddressEntry,
  Link,
  Neighbour,
  Qdisc,
  Route,
  Rule,
} from '@podwire/netlink';
import type { Place } from '../places.js';

/** Lists that may be long. */
export type ListName = 'addresses' | 'routes' | 'rules';

/** Reads what one namespace has. What is asked for twice is read once. */
export interface NamespaceView {
  /** With its parameters for IPv4. */
  link(name: string): Link | undefined;
  addresses(link: Link): readonly InterfaceAddressEntry[];
  /**
   * Routes to a destination, at least those of `table` (the main one when absent) that lead through `link` if one is
   * given.
   */
  routesTo(destination: string, link: Link | undefined, table?: number): readonly Route[];
  rules(): readonly Rule[];
  neighbour(link: Link, address: string): Neighbour | undefined;
  /** Of the link's own forwarding table. */
  forwardingEntry(link: Link, mac: string): ForwardingEntry | undefined;
  rootQdisc(link: Link): Qdisc | undefined;
  /** Filters of the link's ingress qdisc. */
  ingressFilters(link: Link): readonly Filter[];
  /** In words, where the list has more entries than were read: what is missing may be there all the same. */
  describeRest(list: ListName): string;
}

/**
 * Both namespaces of a call. There are two ways to look: a lookup asks for single things (for one endpoint on a node
 * with a thousand), a dump reads everything once (for a thousand endpoints in one go).
 */
export interface View {
  side(place: Place): NamespaceView;
}
