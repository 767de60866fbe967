import fs from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import {
  ADDRESS_LABEL,
  isMarkedForDeletion,
  LIVE_GROUP,
  ROUTE_PROTOCOL,
  uplinkOfAlias,
} from '@podwire/backend-linux';
import { hasCode } from '@podwire/linux';
import {
  type Link,
  listAddresses,
  listLinks,
  listRoutes,
  type NetlinkConnection,
  type Route,
} from '@podwire/netlink';
import { compact } from '@podwire/platform';
import type { DefaultRoute, HostAddress, HostLink, HostNextHop, HostView } from './host-view.js';

/** ARPHRD_LOOPBACK (linux/if_arp.h). */
const loopbackType = 772;
/** RT_TABLE_MAIN (linux/rtnetlink.h). */
const mainTable = 254;
/** Metric that the kernel gives an IPv6 route without one; for IPv4 it is 0. */
const ordinaryMetric = { 4: 0, 6: 1024 } as const;

/**
 * Reads the network namespace that the connection is bound to, which must be that of the process.
 * @param ownLinks names of links that models make on the node: they count as the node's pods' do
 */
export function readKernelHost(connection: NetlinkConnection, ownLinks: ReadonlySet<string>): HostView {
  return describeHost(listRoutes(connection), listLinks(connection), readHostAddresses(connection), ownLinks);
}

/** The same, and lets other work run between two lists. */
export async function readKernelHostInSteps(
  connection: NetlinkConnection,
  ownLinks: ReadonlySet<string>,
): Promise<HostView> {
  const routes4 = listRoutes(connection, { family: 4 });
  await setImmediate();
  const routes6 = listRoutes(connection, { family: 6 });
  await setImmediate();
  const links = listLinks(connection);
  await setImmediate();
  return describeHost([...routes4, ...routes6], links, readHostAddresses(connection), ownLinks);
}

function describeHost(
  all: readonly Route[],
  links: readonly Link[],
  addresses: readonly HostAddress[],
  ownLinks: ReadonlySet<string>,
): HostView {
  const routes = all.filter(({ type }) => type === 'unicast');
  return {
    links: links.map((link) => toHostLink(link, ownLinks)),
    defaultRoutes: routes.filter(isDefault).flatMap(toDefaultRoutes),
    addresses,
    // Other tables have them too: machines with several uplinks have a router for each.
    nextHops: routes.filter(({ protocol }) => protocol !== ROUTE_PROTOCOL).flatMap(toNextHops),
    ipv6: hasIpv6(),
  };
}

/** A text that changes when the node gets or loses an address that a pool may hold. */
export function describeHostAddresses(connection: NetlinkConnection): string {
  const addresses = readHostAddresses(connection).map(({ address, peer }) => `${address} ${peer ?? ''}`);
  // An address on many links (the gateway of containers, say) is one address.
  return [...new Set(addresses)].sort().join('\n');
}

/** Single addresses that Podwire routes to a link of its own, without length: those of pods, whatever the records say. */
export function readPodAddresses(connection: NetlinkConnection): string[] {
  const own = new Set(
    listLinks(connection).flatMap(({ group, index }) => (group === LIVE_GROUP ? [index] : [])),
  );
  return listRoutes(connection, { table: mainTable, protocol: ROUTE_PROTOCOL })
    .filter(({ link, gateway }) => link !== undefined && own.has(link) && gateway === undefined)
    .flatMap(({ destination }) => /^(.*)\/(?:32|128)$/.exec(destination)?.[1] ?? []);
}

/** Addresses of the node's own: those that Podwire made are left out. */
function readHostAddresses(connection: NetlinkConnection): HostAddress[] {
  return listAddresses(connection)
    .filter(({ scope, label }) => scope !== 'link' && label !== ADDRESS_LABEL)
    .map(({ link, address, peer }) => ({ link, address, ...compact({ peer }) }));
}

function toHostLink(
  { index, name, mtu = 0, up, hardwareType, group, kind, mac, alias }: Link,
  ownLinks: ReadonlySet<string>,
): HostLink {
  const own = group === LIVE_GROUP || isMarkedForDeletion({ group }) || ownLinks.has(name);
  const loopback = hardwareType === loopbackType;
  return { index, name, mtu, up, loopback, own, ...compact({ kind, mac, uplink: uplinkOfAlias(alias) }) };
}

function isDefault({ destination, table }: Route): boolean {
  return table === mainTable && (destination === '0.0.0.0/0' || destination === '::/0');
}

function toNextHops({ nextHops, ...route }: Route): HostNextHop[] {
  return (nextHops ?? [route]).flatMap(({ link, gateway }) =>
    link === undefined || gateway === undefined ? [] : [{ link, address: gateway }],
  );
}

function toDefaultRoutes({ family, metric, link, nextHops }: Route): DefaultRoute[] {
  const links = nextHops?.map((hop) => hop.link) ?? [link];
  return links
    .filter((index) => index !== undefined)
    .map((index) => ({ family, link: index, metric: metric ?? ordinaryMetric[family] }));
}

/** A kernel without IPv6 (or `ipv6.disable=1`) has no such file; `all/disable_ipv6` switches it off at run time. */
function hasIpv6(): boolean {
  try {
    return fs.readFileSync('/proc/sys/net/ipv6/conf/all/disable_ipv6', 'utf8').trim() === '0';
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false;
    throw error;
  }
}
