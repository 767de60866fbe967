import type { Family } from '@podwire/addresses';
import type { IpRoute, Neighbour } from '@podwire/backend-linux/resources';
import type { Resource } from '@podwire/engine';
import { digestNumber } from '@podwire/network-traffic';
import { defaultRoutes, gateways, hostMac } from './gateways.js';
import { primaryInterface } from './names.js';
import { familiesOf, type PodAddress } from './pod-addresses.js';

/** Resources of the pod's namespace. `lo` is down in a fresh one, and with it 127.0.0.1 and ::1. */
export function planPodSide(link: string, addresses: readonly PodAddress[]): Resource[] {
  const families = familiesOf(addresses);
  return [
    ...switchIPv6On(families),
    ...switchForwardingOff(link, families),
    { kind: 'link-up', in: 'pod', link: 'lo' },
    { kind: 'link-up', in: 'pod', link },
    ...addresses.map(({ prefix }): Resource => ({ kind: 'address', in: 'pod', link, address: prefix })),
    ...families.map((family) => gatewayNeighbour(link, family)),
    ...(link === primaryInterface
      ? families.flatMap((family) => primaryRoutes(link, family))
      : furtherRoutes(link, addresses)),
  ];
}

/** Some runtimes give namespaces with IPv6 off. `all` sets every interface there is (also `lo`) and the default. */
function switchIPv6On(families: readonly Family[]): Resource[] {
  if (!families.includes(6)) return [];
  return [{ kind: 'sysctl', in: 'pod', key: 'net/ipv6/conf/all/disable_ipv6', value: '0' }];
}

/**
 * A new namespace copies the IPv4 settings of the machine's first one (net.core.devconf_inherit_init_net), which forwards. What the pod,
 * or a runtime that was asked for a sysctl, makes of it later stays.
 */
function switchForwardingOff(link: string, families: readonly Family[]): Resource[] {
  if (link !== primaryInterface || !families.includes(4)) return [];
  return [{ kind: 'sysctl', in: 'pod', key: 'net/ipv4/ip_forward', value: '0', initial: true }];
}

/** The gateway needs no answer, so it works on a node without default route, and from the first packet. */
const gatewayNeighbour = (link: string, family: Family): Neighbour => ({
  kind: 'neighbour',
  in: 'pod',
  link,
  address: gateways[family],
  mac: hostMac,
});

function primaryRoutes(link: string, family: Family): IpRoute[] {
  const route = { kind: 'route', in: 'pod', link } as const;
  const throughGateway: IpRoute = {
    ...route,
    destination: defaultRoutes[family],
    gateway: gateways[family],
  };
  if (family === 6) return [throughGateway];
  return [{ ...route, destination: `${gateways[4]}/32`, scope: 'link' }, throughGateway];
}

/** Before the main table (32766). */
const RULE_PRIORITY = 10_000;

/**
 * A further interface must not fight for the pod's default route, and what is sent from its address must leave through it
 * (elsewhere it would be spoofed): so it has a table of its own, chosen by source address, and in the main table a default
 * route behind every other, for a pod that has no primary interface.
 */
function furtherRoutes(link: string, addresses: readonly PodAddress[]): Resource[] {
  const table = firstFurtherTable + digestNumber(link);
  const through = (family: Family): IpRoute => ({
    kind: 'route',
    in: 'pod',
    destination: defaultRoutes[family],
    link,
    gateway: gateways[family],
    onlink: true,
  });
  return [
    ...familiesOf(addresses).flatMap((family) => [
      { ...through(family), table },
      { ...through(family), metric: table },
    ]),
    ...addresses.map(({ prefix }): Resource => ({
      kind: 'rule',
      in: 'pod',
      from: prefix,
      table,
      priority: RULE_PRIORITY,
    })),
  ];
}

/** Far from the numbers people choose. Also serves as metric. */
const firstFurtherTable = 0x1000_0000;
