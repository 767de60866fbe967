import { hasCode } from '@podwire/linux';
import {
  listAddresses,
  listFilters,
  listLinks,
  listNeighbours,
  listQdiscs,
  listRoutes,
  listRules,
  TC_ROOT,
} from '@podwire/netlink';
import type { Element, Nftables } from '@podwire/nftables';
import type { Kernel, KernelNamespace } from './kernel.js';
import { isDoomed } from './marks.js';
import { elementKey, type ObservedFilter, type ObservedNamespace, type Survey } from './observe.js';
import type { NftElement } from './resource.js';

/** Reads the host once for all owners; each kind of thing when first asked for. */
export function surveyHost(kernel: Kernel): Survey {
  return { host: surveyNamespace(kernel.host), filter: surveyFilter(kernel.nftables) };
}

function surveyNamespace({ route, parameters }: KernelNamespace): ObservedNamespace {
  const links = once(
    () =>
      new Map(
        listLinks(route)
          .filter((link) => !isDoomed(link))
          .map((link) => [link.name, link]),
      ),
  );
  const addresses = once(() => groupBy(listAddresses(route), (entry) => entry.link));
  const routes = once(() => groupBy(listRoutes(route), (entry) => entry.destination));
  const rules = once(() => listRules(route));
  const neighbours = once(() => groupBy(listNeighbours(route), (entry) => entry.link));
  const roots = once(() => listQdiscs(route).filter(({ parent }) => parent === TC_ROOT));
  const rootsByLink = once(() => new Map(roots().map((qdisc) => [qdisc.link, qdisc])));
  return {
    link: (name) => links().get(name),
    addresses: (link) => addresses().get(link.index) ?? [],
    routesTo: (destination) => routes().get(destination) ?? [],
    rules,
    neighbours: (link) => neighbours().get(link.index) ?? [],
    rootQdisc: (link) => rootsByLink().get(link.index),
    ingressFilters: (link) => listFilters(route, { link: link.index }),
    parameter: (key) => parameters.read(key),
  };
}

function surveyFilter(nftables: Nftables): ObservedFilter {
  const sets = new Map<string, ReadonlyMap<string, Element>>();
  return {
    digest: ({ family, name }) => nftables.tableDigest(family, name),
    element(wanted) {
      const name = `${wanted.family} ${wanted.table} ${wanted.set}`;
      const known = sets.get(name) ?? readSet(nftables, wanted);
      sets.set(name, known);
      return known.get(elementKey(wanted));
    },
  };
}

function readSet(nftables: Nftables, { family, table, set }: NftElement): ReadonlyMap<string, Element> {
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
