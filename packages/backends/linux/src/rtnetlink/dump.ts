import { setImmediate } from 'node:timers/promises';
import type { Snapshot } from '@podwire/engine';
import {
  type ForwardingEntry,
  type Link,
  listAddresses,
  listFilters,
  listForwardingEntries,
  listLinks,
  listNeighbours,
  listQdiscs,
  listRoutes,
  listRules,
  type Neighbour,
  readNeighbour,
  type Route,
  TC_ROOT,
} from '@podwire/netlink';
import { groupBy } from '@podwire/platform';
import type { KernelNamespace } from '../kernel.js';
import { isMarkedForDeletion } from '../marks.js';
import { once, remember } from './lookup.js';
import type { NamespaceView } from './view.js';

/**
 * A whole namespace, each kind of thing read when first asked for. The list of neighbours may lack some and have others
 * twice, and no NLM_F_DUMP_INTR says so: the kernel has one table for all namespaces, and it moves its entries when it
 * grows, also for the neighbours of another namespace (net/core/neighbour.c, neigh_hash_grow). So `neighbour` asks again.
 */
export interface Dump extends NamespaceView, Snapshot {
  /** All that are in service. */
  links(): Iterable<Link>;
  /** Those that wait for their deletion. */
  deletedLinks(): readonly Link[];
  routes(): readonly Route[];
  neighbours(link: Link): readonly Neighbour[];
  forwarding(link: Link): readonly ForwardingEntry[];
  readAhead(): Promise<void>;
}

export function dumpNamespace({ route }: KernelNamespace): Dump {
  const listed = once(() => listLinks(route, { inetSettings: true }));
  const links = once(() =>
    indexBy(
      listed().filter((link) => !isMarkedForDeletion(link)),
      ({ name }) => name,
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
  const roots = once(() =>
    indexBy(
      listQdiscs(route).filter(({ parent }) => parent === TC_ROOT),
      ({ link }) => link,
    ),
  );
  return {
    link: (name) => links().get(name),
    links: () => links().values(),
    deletedLinks: () => listed().filter(isMarkedForDeletion),
    addresses: (link) => addresses().get(link.index) ?? [],
    routes,
    routesTo: (destination) => routesByDestination().get(destination) ?? [],
    rules,
    neighbours: (link) => [...neighboursByAddress(link.index).values()],
    neighbour: (link, address) => {
      const known = neighboursByAddress(link.index);
      const found = known.get(address);
      // A fresh link has none: there is nothing to ask about, and peers are many.
      return found ?? (known.size === 0 ? undefined : readNeighbour(route, { link: link.index, address }));
    },
    forwarding: (link) => forwarding(link.index),
    forwardingEntry: (link, mac) => forwardingByMac(link.index).get(mac),
    rootQdisc: (link) => roots().get(link.index),
    ingressFilters: (link) => listFilters(route, { link: link.index }),
    describeRest: () => '',
    readAhead: once(async () => {
      const all: (() => unknown)[] = [links, addresses, routes4, routes6, routesByDestination];
      // Neighbours are wanted on tunnels only.
      const hasTunnels = [...links().values()].some(({ kind }) => kind === 'vxlan');
      if (hasTunnels) all.push(neighbours4, neighbours6, neighbours);
      for (const read of all) {
        read();
        await setImmediate();
      }
    }),
  };
}

const indexBy = <T, K>(items: readonly T[], keyOf: (item: T) => K): Map<K, T> =>
  new Map(items.map((item) => [keyOf(item), item]));
