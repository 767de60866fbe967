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
import type { Element, ForwardPolicy } from '@podwire/nftables';
import type { ForwardAccept, NftElement, NftTable, ResourceKind, Side } from './resource.js';

/** What the kernel has in one namespace, as far as resources are compared with it. */
export interface ObservedNamespace {
  link(name: string): Link | undefined;
  addresses(link: Link): readonly InterfaceAddressEntry[];
  /** Routes to a destination, at least those of `table` (the main one when absent) that lead through `link` if one is given. */
  routesTo(destination: string, link: Link | undefined, table?: number): readonly Route[];
  rules(): readonly Rule[];
  neighbour(link: Link, address: string): Neighbour | undefined;
  /** Of the link's own forwarding table. */
  forwardingEntry(link: Link, mac: string): ForwardingEntry | undefined;
  rootQdisc(link: Link): Qdisc | undefined;
  /** Filters of the link's ingress qdisc. */
  ingressFilters(link: Link): readonly Filter[];
  parameter(key: string): string | undefined;
  /** Kinds of which there was more than was read, so far. */
  readonly partial?: ReadonlySet<ResourceKind>;
}

/** What the packet filter has. */
export interface ObservedFilter {
  digest(table: Pick<NftTable, 'family' | 'name'>): string | undefined;
  element(wanted: NftElement): Element | undefined;
  forwardPolicy(wanted: Pick<ForwardAccept, 'family' | 'chain'>): ForwardPolicy | undefined;
}

/**
 * Both sides and the packet filter: all that a resource can be compared with. There are two ways to look: a *probe*
 * asks for the single things (for one endpoint on a node with a thousand), a *survey* reads everything once (for a
 * thousand endpoints in one go).
 */
export interface View {
  side(side: Side): ObservedNamespace;
  readonly filter: ObservedFilter;
}

/** The same, read whole. */
export interface SurveyedNamespace extends ObservedNamespace {
  routes(): readonly Route[];
  neighbours(link: Link): readonly Neighbour[];
  forwarding(link: Link): readonly ForwardingEntry[];
}

/** What many owners share when they are looked at in one go. */
export interface Survey {
  readonly host: SurveyedNamespace;
  readonly filter: ObservedFilter;
  /** Reads what is asked for of many owners, bit by bit, so that others get their turn in between. */
  readAhead(): Promise<void>;
}

/** The same for equal keys. */
export function elementKey({ key }: Pick<Element, 'key'>): string {
  return key.map((part) => part.value).join(' . ');
}
