/**
 * With the last IPv4 address of a link the kernel deletes all routes through the link and all of its neighbours too,
 * also permanent and foreign ones (fib_disable_ip(), arp_ifdown()). A removal means the address only.
 */
import {
  listAddresses,
  listNeighbours,
  listRoutes,
  type Neighbour,
  type NetlinkConnection,
  NetlinkBatchError,
  type NetlinkRequest,
  replaceNeighbourRequest,
  replaceRouteRequest,
  type Route,
  RTPROT_KERNEL,
} from '@podwire/netlink';
import { groupBy } from '@podwire/platform';

/** An address that is about to be deleted. */
interface GoingAddress {
  /** Index of its link. */
  readonly link: number;
  /** ADDRESS/LENGTH */
  readonly address: string;
}

/** Entries that are deleted as well. */
interface GoingAlong {
  readonly route: (route: Route) => boolean;
  readonly neighbour: (neighbour: Neighbour) => boolean;
}

/**
 * Called before the addresses are deleted. Costs nothing where there are none.
 * @returns a function that restores everything that was not meant to go
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
      .filter((route) => isForeign(route, sources) && !along.route(route))
      // Gateways may be reachable by the others.
      .sort((a, b) => Number(a.gateway !== undefined) - Number(b.gateway !== undefined))
      .map((route) => replaceRouteRequest(encodeAgain(route))),
    ...listNeighbours(connection, filter)
      .filter((entry) => entry.state === 'permanent' && !along.neighbour(entry))
      .flatMap(({ address, mac }) =>
        mac === undefined ? [] : [replaceNeighbourRequest({ link, address, mac })],
      ),
  ];
}

/** The kernel's own routes come and go with the address, and so do those that have it as their source. */
function isForeign({ protocol, preferredSource, nextHops }: Route, sources: ReadonlySet<string>): boolean {
  if (protocol === RTPROT_KERNEL || nextHops !== undefined) return false;
  return preferredSource === undefined || !sources.has(preferredSource);
}

function encodeAgain({ destination, type, scope, table, protocol, link, gateway, ...rest }: Route) {
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

/** The route's gateway was reachable by the address alone: the route is gone with it, as everywhere. */
const isUnreachable = ({ code }: { code: string }): boolean => ['ENETUNREACH', 'EHOSTUNREACH'].includes(code);

function restore(connection: NetlinkConnection, requests: readonly NetlinkRequest[]): void {
  if (requests.length === 0) return;
  try {
    connection.request(requests);
  } catch (error) {
    if (!(error instanceof NetlinkBatchError) || !error.failures.every(isUnreachable)) throw error;
  }
}
