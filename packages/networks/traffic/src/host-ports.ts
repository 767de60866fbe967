import { parseAddress, parsePrefix, containsAddress } from '@podwire/addresses';
import type { ConntrackReset, IpRoute, NftElement, NftValue, Sysctl } from '@podwire/backend-linux/resources';
import type { Resource } from '@podwire/engine';
import type { Endpoint } from '@podwire/network-contract';
import { compact } from '@podwire/platform';
import { type Forward, forwardsOf } from './forwards.js';
import { digestNumber } from './link-names.js';
import { trafficTable } from './traffic-table.js';

/**
 * The host ports of an endpoint (the `portMappings` capability): one map element for each mapping and family. See
 * docs/decisions/0004-host-ports-in-nftables-maps.md.
 * @param hostLink the host side's name
 * @throws PodwireError REQUEST_INVALID naming the mapping
 */
export function planHostPorts(endpoint: Endpoint, hostLink: string): Resource[] {
  const forwards = forwardsOf(endpoint);
  return [
    ...openIPv4Loopback(forwards, hostLink),
    ...openIPv6Loopback(forwards, hostLink),
    ...forwards.map(portElement),
    ...hairpinElements(forwards),
    ...conntrackResets(forwards),
  ];
}

const loopback4 = parsePrefix('127.0.0.0/8');

function answersOnLoopback({ hostIP, family }: Forward): boolean {
  if (hostIP === undefined) return true;
  return family === 4 ? containsAddress(loopback4, parseAddress(hostIP)) : hostIP === '::1';
}

/** Lets packets between 127.0.0.1 and the pod through this interface (never through all). */
function openIPv4Loopback(forwards: readonly Forward[], hostLink: string): Sysctl[] {
  if (!forwards.some((forward) => forward.family === 4 && answersOnLoopback(forward))) return [];
  return [{ kind: 'sysctl', in: 'host', key: `net/ipv4/conf/${hostLink}/route_localnet`, value: '1' }];
}

const LOCAL_TABLE = 255;
/** Above every metric the kernel gives by itself, so that the node itself goes on reaching ::1 through `lo`. */
const LOOPBACK_METRIC = 0x4000_0000;

/**
 * IPv6 has no route_localnet; the kernel takes a packet for ::1 from an interface that has a local route for it. The metric
 * tells the pods' routes for this one destination apart.
 */
function openIPv6Loopback(forwards: readonly Forward[], hostLink: string): IpRoute[] {
  if (!forwards.some((forward) => forward.family === 6 && answersOnLoopback(forward))) return [];
  const metric = LOOPBACK_METRIC + digestNumber(hostLink);
  const destination = '::1/128';
  return [
    { kind: 'route', in: 'host', type: 'local', destination, link: hostLink, table: LOCAL_TABLE, metric },
  ];
}

const addressValue = (family: 4 | 6, value: string): NftValue => ({
  type: family === 4 ? 'ipv4_addr' : 'ipv6_addr',
  value,
});

function portElement({ family, protocol, hostPort, hostIP, podIP, podPort }: Forward): NftElement {
  const port: NftValue[] = [
    { type: 'inet_proto', value: protocol },
    { type: 'inet_service', value: hostPort },
  ];
  return {
    kind: 'nft-element',
    family: trafficTable.family,
    table: trafficTable.name,
    set: hostIP === undefined ? `hostports${family}` : `hostipports${family}`,
    key: hostIP === undefined ? port : [addressValue(family, hostIP), ...port],
    value: [addressValue(family, podIP), { type: 'inet_service', value: podPort }],
  };
}

/** nft cannot compare a packet's source with its destination, hence an element `pod . the same pod`. */
function hairpinElements(forwards: readonly Forward[]): NftElement[] {
  const pods = new Map(forwards.map(({ podIP, family }) => [podIP, family]));
  return [...pods].map(([podIP, family]) => ({
    kind: 'nft-element',
    family: trafficTable.family,
    table: trafficTable.name,
    set: `hairpins${family}`,
    key: [addressValue(family, podIP), addressValue(family, podIP)],
  }));
}

/**
 * A UDP sender that never pauses keeps its entry alive, and with it the port's former owner or none
 * (containernetworking/plugins#123, #1190). TCP and SCTP begin anew by themselves.
 */
function conntrackResets(forwards: readonly Forward[]): ConntrackReset[] {
  return forwards
    .filter(({ protocol }) => protocol === 'udp')
    .map(({ family, hostIP, hostPort: port }) => ({
      kind: 'conntrack-reset',
      protocol: 'udp',
      family,
      ...compact({ address: hostIP }),
      port,
    }));
}
