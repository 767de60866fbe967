import { setImmediate } from 'node:timers/promises';
import { hasCode } from '@podwire/linux';
import {
  listAddresses,
  listFilters,
  listForwardingEntries,
  listLinks,
  listNeighbours,
  listQdiscs,
  listRoutes,
  listRules,
  TC_ROOT,
} from '@podwire/netlink';
import type { Element, Nftables } from '@podwire/nftables';
import { groupBy } from './group-by.js';
import type { Kernel, KernelNamespace } from './kernel.js';
import { isDoomed } from './marks.js';
import { elementKey, type ObservedFilter, type Survey, type SurveyedNamespace } from './observe.js';
import { once, remember } from './remember.js';
import type { NftElement } from './resource.js';

/** Reads the host once for all owners; each kind of thing when first asked for. */
export function surveyHost(kernel: Kernel): Survey {
  const host = surveyNamespace(kernel.host);
  return {
    host,
    filter: surveyFilter(kernel.nftables),
    readAhead: once(async () => {
      for (const read of host.pieces) {
        read();
        await setImmediate();
      }
    }),
  };
}

/** What stands in the kernel's large tables, table by table. */
interface Pieces {
  readonly pieces: readonly (() => unknown)[];
}

function surveyNamespace({ route, parameters }: KernelNamespace): SurveyedNamespace & Pieces {
  const links = once(
    () =>
      new Map(
        listLinks(route)
          .filter((link) => !isDoomed(link))
          .map((link) => [link.name, link]),
      ),
  );
  const addresses = once(() => groupBy(listAddresses(route), (entry) => entry.link));
  const routes4 = once(() => listRoutes(route, { family: 4 }));
  const routes6 = once(() => listRoutes(route, { family: 6 }));
  const routes = once(() => [...routes4(), ...routes6()]);
  const routesByDestination = once(() => groupBy(routes(), (entry) => entry.destination));
  const rules = once(() => listRules(route));
  const neighbours4 = once(() => listNeighbours(route, { family: 4 }));
  const neighbours6 = once(() => listNeighbours(route, { family: 6 }));
  const neighbours = once(() => groupBy([...neighbours4(), ...neighbours6()], (entry) => entry.link));
  const neighboursByAddress = remember((link: number) =>
    indexBy(neighbours().get(link) ?? [], ({ address }) => address),
  );
  const forwarding = remember((link: number) => listForwardingEntries(route, { link }));
  const forwardingByMac = remember((link: number) => indexBy(forwarding(link), ({ mac }) => mac));
  const roots = once(() => listQdiscs(route).filter(({ parent }) => parent === TC_ROOT));
  const rootsByLink = once(() => new Map(roots().map((qdisc) => [qdisc.link, qdisc])));
  return {
    pieces: [routes4, routes6, routesByDestination, neighbours4, neighbours6, neighbours],
    link: (name) => links().get(name),
    addresses: (link) => addresses().get(link.index) ?? [],
    routes,
    routesTo: (destination) => routesByDestination().get(destination) ?? [],
    rules,
    neighbours: (link) => neighbours().get(link.index) ?? [],
    neighbour: (link, address) => neighboursByAddress(link.index).get(address),
    forwarding: (link) => forwarding(link.index),
    forwardingEntry: (link, mac) => forwardingByMac(link.index).get(mac),
    rootQdisc: (link) => rootsByLink().get(link.index),
    ingressFilters: (link) => listFilters(route, { link: link.index }),
    parameter: (key) => parameters.read(key),
  };
}

function surveyFilter(nftables: Nftables): ObservedFilter {
  const sets = new Map<string, ReadonlyMap<string, Element>>();
  return {
    digest: ({ family, name }) => nftables.tableDigest(family, name),
    forwardPolicy: ({ family, chain }) => nftables.forwardPolicy(family, chain),
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

const indexBy = <T, K>(items: readonly T[], keyOf: (item: T) => K): Map<K, T> =>
  new Map(items.map((item) => [keyOf(item), item]));
