import { hasCode } from '@podwire/linux';
import {
  decodeLink,
  decodeNeighbour,
  decodeQdisc,
  getLink,
  getNeighbour,
  getQdisc,
  type Link,
  listAddresses,
  listFilters,
  listForwardingEntries,
  listRoutes,
  listRules,
  type NetlinkConnection,
  type NetlinkMessage,
  type NetlinkRequest,
} from '@podwire/netlink';
import type { Nftables } from '@podwire/nftables';
import { isDoomed } from './marks.js';
import type { KernelNamespace } from './kernel.js';
import type { ObservedFilter, ObservedNamespace } from './observe.js';
import { remember } from './remember.js';

/** Looks at single things; what is asked for twice is read once. The cost does not grow with the node. */
export function probeNamespace({ route, parameters }: KernelNamespace): ObservedNamespace {
  const ofLink = (link: Link) => ({ link: link.index });
  const routes = remember((link: number | undefined) =>
    listRoutes(route, link === undefined ? {} : { link }),
  );
  const forwarding = remember((link: number) => listForwardingEntries(route, { link }));
  return {
    link: remember((name: string) => {
      const reply = askOrAbsent(route, getLink(name));
      const link = reply === undefined ? undefined : decodeLink(reply);
      return link === undefined || isDoomed(link) ? undefined : link;
    }),
    addresses: remember((link: Link) => listAddresses(route, ofLink(link))),
    routesTo: (destination, link) =>
      routes(link?.index).filter((candidate) => candidate.destination === destination),
    rules: () => listRules(route),
    neighbour(link, address) {
      const reply = askOrAbsent(route, getNeighbour({ ...ofLink(link), address }));
      return reply === undefined ? undefined : decodeNeighbour(reply);
    },
    forwardingEntry: (link, mac) => forwarding(link.index).find((entry) => entry.mac === mac),
    rootQdisc(link) {
      const reply = askOrAbsent(route, getQdisc(ofLink(link)));
      return reply === undefined ? undefined : decodeQdisc(reply);
    },
    ingressFilters: (link) => listFilters(route, ofLink(link)),
    parameter: (key) => parameters.read(key),
  };
}

export function probeFilter(nftables: Nftables): ObservedFilter {
  return {
    digest: ({ family, name }) => nftables.tableDigest(family, name),
    element: (wanted) => nftables.getElement(wanted),
    forwardPolicy: ({ family, chain }) => nftables.forwardPolicy(family, chain),
  };
}

function askOrAbsent(connection: NetlinkConnection, request: NetlinkRequest): NetlinkMessage | undefined {
  try {
    return connection.request([request]).flat()[0];
  } catch (error) {
    if (hasCode(error, 'ENODEV', 'ENOENT')) return undefined;
    throw error;
  }
}
