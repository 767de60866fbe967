/** The routes that the kernel adds by itself for addresses. */
import {
  formatPrefix,
  hostPrefix,
  lastAddress,
  parseAddress,
  parseInterfaceAddress,
  prefixOf,
} from '@podwire/addresses';
import type { InterfaceAddressEntry } from '../address.js';
import type { Route } from '../route-decoder.js';
import { RT_TABLE_LOCAL, RT_TABLE_MAIN, RTPROT_KERNEL } from '../route-attributes.js';
import type { FakeLink } from './state.js';

const IPV6_KERNEL_METRIC = 256;

/** All of them while the link is up, only what makes the address local while it is down. */
export function connectedRoutes(link: FakeLink, entry: InterfaceAddressEntry): Route[] {
  return entry.family === 4 ? connectedRoutes4(link, entry) : connectedRoutes6(link, entry);
}

function connectedRoutes4(link: FakeLink, entry: InterfaceAddressEntry): Route[] {
  const { address, length } = parseInterfaceAddress(entry.address);
  const far = entry.peer === undefined ? address : parseAddress(entry.peer);
  const prefix = prefixOf(far, length);
  const source = entry.address.slice(0, entry.address.indexOf('/'));
  const common = { family: 4, link: link.index, protocol: RTPROT_KERNEL, preferredSource: source } as const;
  const local = { ...common, table: RT_TABLE_LOCAL };
  const routes: Route[] = [
    { ...local, destination: formatPrefix(hostPrefix(address)), type: 'local', scope: 'host' },
  ];
  const alone = length === 32 && entry.peer === undefined;
  if (!link.up || entry.flags.includes('secondary') || alone) return routes;
  if (link.name === 'lo')
    routes.push({ ...local, destination: formatPrefix(prefix), type: 'local', scope: 'host' });
  else if (!entry.flags.includes('noPrefixRoute'))
    routes.push(prefixRoute(common, formatPrefix(prefix), entry));
  if (length < 31) {
    const broadcast = formatPrefix(hostPrefix(lastAddress(prefix)));
    routes.push({ ...local, destination: broadcast, type: 'broadcast', scope: 'link' });
  }
  return routes;
}

function prefixRoute(
  common: Pick<Route, 'family' | 'link' | 'protocol' | 'preferredSource'>,
  destination: string,
  { metric }: InterfaceAddressEntry,
): Route {
  const route: Route = { ...common, destination, table: RT_TABLE_MAIN, type: 'unicast', scope: 'link' };
  return metric === undefined ? route : { ...route, metric };
}

function connectedRoutes6(link: FakeLink, entry: InterfaceAddressEntry): Route[] {
  const { address, length } = parseInterfaceAddress(entry.address);
  const common = { family: 6, link: link.index, protocol: RTPROT_KERNEL, scope: 'global' } as const;
  const destination = formatPrefix(hostPrefix(address));
  const routes: Route[] = [{ ...common, destination, table: RT_TABLE_LOCAL, type: 'local', metric: 0 }];
  if (!link.up || link.name === 'lo' || entry.flags.includes('noPrefixRoute')) return routes;
  const metric = entry.metric ?? IPV6_KERNEL_METRIC;
  const prefix = formatPrefix(prefixOf(address, length));
  return [...routes, { ...common, destination: prefix, table: RT_TABLE_MAIN, type: 'unicast', metric }];
}

export function multicastRoute(link: FakeLink): Route {
  return {
    family: 6,
    destination: 'ff00::/8',
    type: 'multicast',
    table: RT_TABLE_LOCAL,
    protocol: RTPROT_KERNEL,
    scope: 'global',
    link: link.index,
    metric: IPV6_KERNEL_METRIC,
  };
}
