import { hasCode } from '@podwire/linux';
import {
  type InterfaceAddressEntry,
  type Link,
  listAddresses,
  listFilters,
  listLinks,
  listNeighbours,
  listQdiscs,
  listRoutes,
  type Filter,
  type Neighbour,
  type Qdisc,
  type Route,
  type Rule,
  listRules,
} from '@podwire/netlink';
import type { Element, Nftables } from '@podwire/nftables';
import type { KernelNamespace } from './kernel.js';
import type { NftElement, NftTable, Side } from './resource.js';
import type { Session } from './session.js';

/** What the kernel has in one namespace. Each list is read when first asked for, and once. */
export interface ObservedNamespace {
  links(): readonly Link[];
  link(name: string): Link | undefined;
  addresses(link: Link): readonly InterfaceAddressEntry[];
  routes(): readonly Route[];
  /** Routes by destination: there may be a thousand, and a thousand resources to look up. */
  routesTo(destination: string): readonly Route[];
  rules(): readonly Rule[];
  neighbours(link: Link): readonly Neighbour[];
  qdiscs(link: Link): readonly Qdisc[];
  /** Filters of the link's ingress qdisc. */
  ingressFilters(link: Link): readonly Filter[];
  parameter(key: string): string | undefined;
}

/** What the packet filter has. Sets are read whole, when something of them is first asked for. */
export interface ObservedFilter {
  digest(table: Pick<NftTable, 'family' | 'name'>): string | undefined;
  elements(set: SetName): readonly Element[];
  element(wanted: NftElement): Element | undefined;
}

export type SetName = Pick<NftElement, 'family' | 'table' | 'set'>;

/** Both sides and the packet filter: all that a resource can be compared with. */
export interface View {
  side(side: Side): ObservedNamespace;
  readonly filter: ObservedFilter;
}

/** Looks afresh. `host` and `filter` are handed in when many owners are looked at in one go. */
export function openView(
  session: Session,
  shared: { host?: ObservedNamespace; filter?: ObservedFilter } = {},
): View {
  const host = once(() => shared.host ?? observeNamespace(session.namespace('host')));
  const pod = once(() => observeNamespace(session.namespace('pod')));
  return {
    side: (side) => (side === 'host' ? host() : pod()),
    filter: shared.filter ?? observeFilter(session.kernel.nftables),
  };
}

export function observeNamespace(namespace: KernelNamespace): ObservedNamespace {
  const { route, parameters } = namespace;
  const links = once(() => listLinks(route));
  const byName = once(() => new Map(links().map((link) => [link.name, link])));
  const addresses = once(() => groupBy(listAddresses(route), (entry) => entry.link));
  const routes = once(() => listRoutes(route));
  const byDestination = once(() => groupBy(routes(), (entry) => entry.destination));
  const rules = once(() => listRules(route));
  const neighbours = once(() => groupBy(listNeighbours(route), (entry) => entry.link));
  const qdiscs = once(() => groupBy(listQdiscs(route), (entry) => entry.link));
  return {
    links,
    link: (name) => byName().get(name),
    addresses: (link) => addresses().get(link.index) ?? [],
    routes,
    routesTo: (destination) => byDestination().get(destination) ?? [],
    rules,
    neighbours: (link) => neighbours().get(link.index) ?? [],
    qdiscs: (link) => qdiscs().get(link.index) ?? [],
    ingressFilters: (link) => listFilters(route, { link: link.index }),
    parameter: (key) => parameters.read(key),
  };
}

export function observeFilter(nftables: Nftables): ObservedFilter {
  const sets = new Map<string, ReadonlyMap<string, Element>>();
  const read = (set: SetName): ReadonlyMap<string, Element> => {
    const name = `${set.family} ${set.table} ${set.set}`;
    const known = sets.get(name) ?? readSet(nftables, set);
    sets.set(name, known);
    return known;
  };
  return {
    digest: ({ family, name }) => nftables.tableDigest(family, name),
    elements: (set) => [...read(set).values()],
    element: (wanted) => read(wanted).get(elementKey(wanted)),
  };
}

/** The same for equal keys. */
export function elementKey({ key }: Pick<Element, 'key'>): string {
  return key.map((part) => part.value).join(' . ');
}

function readSet(nftables: Nftables, { family, table, set }: SetName): ReadonlyMap<string, Element> {
  try {
    return new Map(
      nftables.listElements(family, table, set).map((element) => [elementKey(element), element]),
    );
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return new Map(); // no such set: none of its elements either
    throw error;
  }
}

function once<T>(read: () => T): () => T {
  let value: { known: T } | undefined;
  return () => (value ??= { known: read() }).known;
}

function groupBy<T, K>(items: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}
