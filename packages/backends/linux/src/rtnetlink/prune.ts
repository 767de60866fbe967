import type { MarkedThing, Resource } from '@podwire/engine';
import {
  deleteAddressRequest,
  deleteForwardingEntryRequest,
  deleteNeighbourRequest,
  deleteRouteRequest,
  type InterfaceAddressEntry,
  type Link,
  NetlinkBatchError,
  type NetlinkConnection,
  NetlinkError,
  type NetlinkRequest,
  type NewRoute,
  readLink,
  type Route,
} from '@podwire/netlink';
import { entryKey, linkKey } from '../keys.js';
import { ADDRESS_LABEL, LIVE_GROUP, ROUTE_PROTOCOL } from '../marks.js';
import type { Dump } from './dump.js';
import { keepOthers } from './last-address.js';
import { deleteLater, type RemovalContext } from './link-removal.js';
import { onLink } from './kind.js';
import { identifyRoute } from './routes.js';

/** Something with our mark, and how it is deleted. */
export interface Leftover extends MarkedThing {
  readonly link?: Link;
  readonly address?: InterfaceAddressEntry;
  readonly request?: () => NetlinkRequest;
}

/** Everything of ours on the host: what is on tunnels that are wanted, routes of our protocol, links of our group. */
export function listMarked(dump: Dump, wanted: readonly Resource[]): Leftover[] {
  const tunnels = new Set(wanted.flatMap((resource) => (resource.kind === 'vxlan' ? [resource.name] : [])));
  return [
    ...[...tunnels].flatMap((name) => listOnTunnel(dump, name)),
    ...listOnLoopback(dump),
    ...dump
      .routes()
      .filter(({ protocol }) => protocol === ROUTE_PROTOCOL)
      .map(markedRoute),
    ...[...dump.links()]
      .filter(({ group }) => group === LIVE_GROUP)
      .map((link) => ({ key: linkKey('host', link.name), what: `link ${link.name}`, link })),
  ];
}

/** Everything on a tunnel device of ours is ours: also entries of peers that are gone. */
function listOnTunnel(dump: Dump, name: string): Leftover[] {
  const link = dump.link(name);
  if (link?.kind !== 'vxlan' || link.group !== LIVE_GROUP) return [];
  const marked = (sort: string, id: string, more: Partial<Leftover>): Leftover => ({
    key: entryKey(sort, 'host', onLink(name, id)),
    what: `${sort} ${id} on ${name}`,
    ...more,
  });
  return [
    ...dump
      .forwarding(link)
      .map((entry) =>
        marked('forwarding-entry', entry.mac, { request: () => deleteForwardingEntryRequest(entry) }),
      ),
    ...dump
      .neighbours(link)
      .filter(({ state }) => state === 'permanent')
      .map((entry) => marked('neighbour', entry.address, { request: () => deleteNeighbourRequest(entry) })),
    ...dump
      .addresses(link)
      .map((address) =>
        marked('address', address.address, { address, request: () => deleteAddressRequest(address) }),
      ),
  ];
}

function listOnLoopback(dump: Dump): Leftover[] {
  const link = dump.link('lo');
  if (link === undefined) return [];
  return dump
    .addresses(link)
    .filter(({ label }) => label === ADDRESS_LABEL)
    .map((address) => ({
      key: entryKey('address', 'host', onLink('lo', address.address)),
      what: `address ${address.address} on lo`,
      address,
      request: () => deleteAddressRequest(address),
    }));
}

function markedRoute(found: Route): Leftover {
  const { destination, table, metric = 0 } = found;
  return {
    key: entryKey('route', 'host', identifyRoute(destination, table, metric)),
    what: `route ${destination}`,
    request: () => deleteRouteRequest(exactly(found)),
  };
}

function exactly({ destination, table, protocol, link, metric }: Route): NewRoute {
  return {
    ...{ destination, table, protocol },
    ...(link === undefined ? {} : { link }),
    ...(metric === undefined ? {} : { metric }),
  };
}

/** Deletes things of one sort. What cannot be deleted is returned with its error. */
export function pruneBatch(context: RemovalContext, things: readonly Leftover[]): Map<MarkedThing, unknown> {
  const failures = new Map<MarkedThing, unknown>();
  for (const thing of things) {
    if (thing.link === undefined) continue;
    try {
      requireOurs(context.kernel.host.route, thing.link);
      deleteLater(context, [thing.link]);
    } catch (error) {
      failures.set(thing, error);
    }
  }
  const entries = things.filter(({ link }) => link === undefined);
  if (entries.length > 0) deleteEntries(context.kernel.host.route, entries, failures);
  return failures;
}

/**
 * A link was listed before anything was repaired: it may have got its name back since, or have been given up. Its index may be another
 * link's by now, since one that comes back from a pod brings its own.
 */
function requireOurs(route: NetlinkConnection, { index, name }: Link): void {
  const now = readLink(route, index);
  if (now?.name !== name || now.group !== LIVE_GROUP)
    throw new NetlinkError('ENODEV', `link ${name} is gone`);
}

function deleteEntries(
  route: NetlinkConnection,
  entries: readonly Leftover[],
  failures: Map<MarkedThing, unknown>,
): void {
  const addresses = entries.flatMap((entry) => (entry.address === undefined ? [] : [entry.address]));
  const restore = keepOthers(route, addresses, { route: () => false, neighbour: () => false });
  try {
    route.request(entries.map(({ request }) => request!()));
  } catch (error) {
    if (!(error instanceof NetlinkBatchError)) for (const entry of entries) failures.set(entry, error);
    else
      for (const failure of error.failures)
        failures.set(entries[failure.index]!, new NetlinkBatchError([failure]));
  }
  try {
    restore();
  } catch (error) {
    for (const entry of entries) if (!failures.has(entry)) failures.set(entry, error);
  }
}
