/**
 * With the last IPv4 address of a link the kernel takes along all routes through the link and all of its neighbours, permanent
 * ones too, whoever made them (fib_disable_ip(), arp_ifdown()). Who gives an address back means only the address.
 */
import {
  listAddresses,
  listNeighbours,
  listRoutes,
  type Neighbour,
  type NetlinkConnection,
  NetlinkBatchError,
  type NetlinkRequest,
  replaceNeighbour,
  replaceRoute,
  type Route,
  RTPROT_KERNEL,
} from '@podwire/netlink';
import { groupBy } from './group-by.js';

/** An address that is about to be deleted. */
export interface GoingAddress {
  /** Index of its link. */
  readonly link: number;
  /** ADDRESS/LENGTH */
  readonly address: string;
}

/** What is meant to go as well. */
export interface GoingAlong {
  readonly route: (route: Route) => boolean;
  readonly neighbour: (neighbour: Neighbour) => boolean;
}

/**
 * Looked at before the addresses go, which costs nothing where none does.
 * @returns what makes everything again that was not meant to go
 */
export function keepOthers(
  connection: NetlinkConnection,
  going: readonly GoingAddress[],
  along: GoingAlong,
): () => void {
  const byLink = groupBy(
    going.filter(({ address }) => !address.includes(':')),
    ({ link }) => link,
  );
  const requests = [...byLink].flatMap(([link, addresses]) =>
    planRestoration(connection, link, addresses, along),
  );
  return () => restore(connection, requests);
}

function planRestoration(
  connection: NetlinkConnection,
  link: number,
  going: readonly GoingAddress[],
  along: GoingAlong,
): NetlinkRequest[] {
  const texts = new Set(going.map(({ address }) => address));
  const filter = { link, family: 4 } as const;
  const present = listAddresses(connection, filter).map(({ address }) => address);
  if (present.length === 0 || present.some((address) => !texts.has(address))) return [];
  const sources = new Set(present.map((address) => address.slice(0, address.indexOf('/'))));
  return [
    ...listRoutes(connection, filter)
      .filter((route) => isSomebodys(route, sources) && !along.route(route))
      // Gateways may be reachable by the others.
      .sort((a, b) => Number(a.gateway !== undefined) - Number(b.gateway !== undefined))
      .map((route) => replaceRoute(again(route))),
    ...listNeighbours(connection, filter)
      .filter((entry) => entry.state === 'permanent' && !along.neighbour(entry))
      .flatMap(({ address, mac }) => (mac === undefined ? [] : [replaceNeighbour({ link, address, mac })])),
  ];
}

/** The kernel's own come and go with the address, and so do those that have it as their source. */
function isSomebodys({ protocol, preferredSource, nextHops }: Route, sources: ReadonlySet<string>): boolean {
  if (protocol === RTPROT_KERNEL || nextHops !== undefined) return false;
  return preferredSource === undefined || !sources.has(preferredSource);
}

function again({ destination, type, scope, table, protocol, link, gateway, ...rest }: Route) {
  const { onlink, preferredSource, metric, mtu } = rest;
  return {
    ...{ destination, scope, table, protocol },
    ...(typeof type === 'string' ? { type } : {}),
    ...(link === undefined ? {} : { link }),
    ...(gateway === undefined ? {} : { gateway }),
    ...(onlink === undefined ? {} : { onlink }),
    ...(preferredSource === undefined ? {} : { preferredSource }),
    ...(metric === undefined ? {} : { metric }),
    ...(mtu === undefined ? {} : { mtu }),
  };
}

/** Of a route whose gateway was reachable by the address alone: it is gone with it, as everywhere. */
const hasLostItsWay = ({ code }: { code: string }): boolean => ['ENETUNREACH', 'EHOSTUNREACH'].includes(code);

function restore(connection: NetlinkConnection, requests: readonly NetlinkRequest[]): void {
  if (requests.length === 0) return;
  try {
    connection.request(requests);
  } catch (error) {
    if (!(error instanceof NetlinkBatchError) || !error.failures.every(hasLostItsWay)) throw error;
  }
}
