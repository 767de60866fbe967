import { familyOf } from '@podwire/addresses';
import type { IpRoute } from '@podwire/backend-linux/resources';
import type { Resource } from '@podwire/engine';
import { forwardingOff, planChecksums } from '@podwire/network-traffic/switched-pod';
import type { OvnOptions } from '../options.js';
import type { LogicalPort } from './attachment.js';

/** The interface that carries a pod's default route; others are further interfaces. */
const PRIMARY = 'eth0';

/** Resources of the pod's namespace. `lo` is down in a fresh one. */
export function planPodSide(link: string, { addresses }: LogicalPort, options: OvnOptions): Resource[] {
  const has = (family: 4 | 6): boolean => addresses.some(({ address }) => familyOf(address) === family);
  return [
    ...(has(6) ? [ipv6On, withoutDetection(link)] : []),
    ...(has(4) && link === PRIMARY ? [forwardingOff] : []),
    { kind: 'link-up', in: 'pod', link: 'lo' },
    ...planChecksums(link, options.datapath),
    { kind: 'link-up', in: 'pod', link },
    ...addresses.map(({ address, length }): Resource => {
      return { kind: 'address', in: 'pod', link, address: `${address}/${length}` };
    }),
    ...routesOf(link, addresses).map(({ dst: destination, gw: gateway }): IpRoute => {
      return { kind: 'route', in: 'pod', link, destination, gateway };
    }),
  ];
}

/** Of the CNI result. */
export const reportedRoutes = (link: string, { addresses }: LogicalPort): PodRoute[] =>
  routesOf(link, addresses);

interface PodRoute {
  readonly dst: string;
  readonly gw: string;
}

const defaultRoutes = { 4: '0.0.0.0/0', 6: '::/0' } as const;

const routesOf = (link: string, addresses: LogicalPort['addresses']): PodRoute[] =>
  link === PRIMARY ? addresses.map(({ gateway: gw }) => ({ dst: defaultRoutes[familyOf(gw)], gw })) : [];

/** Some runtimes give namespaces with IPv6 off. */
const ipv6On: Resource = { kind: 'sysctl', in: 'pod', key: 'net/ipv6/conf/all/disable_ipv6', value: '0' };

/**
 * The controller gives each address once. Duplicate address detection would hold a pod up for a second: the gateway is asked from the
 * link-local address.
 */
const withoutDetection = (link: string): Resource => ({
  ...{ kind: 'sysctl', in: 'pod', key: `net/ipv6/conf/${link}/accept_dad`, value: '0' },
});
