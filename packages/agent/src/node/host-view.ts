/** Questions of the agent about its host. The real one reads netlink (`kernel-host-view.ts`). */

export interface HostLink {
  readonly index: number;
  readonly name: string;
  /** bytes */
  readonly mtu: number;
  readonly up: boolean;
  readonly loopback: boolean;
  /** One that Podwire made for a pod. */
  readonly own: boolean;
  /** `veth`, `bridge`, …; absent for hardware and the loopback. */
  readonly kind?: string;
  readonly mac?: string;
  /** Name of the link whose addresses it has: a bridge that an uplink has joined. */
  readonly uplink?: string;
}

export interface HostAddress {
  /** Index of the link. */
  readonly link: number;
  /** ADDRESS/LENGTH */
  readonly address: string;
  /** The other end of a point-to-point link, ADDRESS/LENGTH. */
  readonly peer?: string;
}

export interface HostNextHop {
  /** Index of the link. */
  readonly link: number;
  readonly address: string;
}

export interface DefaultRoute {
  readonly family: 4 | 6;
  /** Index of the link; every link of a multipath route has an entry. */
  readonly link: number;
  readonly metric: number;
}

export interface HostView {
  readonly links: readonly HostLink[];
  readonly defaultRoutes: readonly DefaultRoute[];
  readonly addresses: readonly HostAddress[];
  /** Of the routes that are not Podwire's. */
  readonly nextHops: readonly HostNextHop[];
  /** The kernel has IPv6 and it is not switched off for all interfaces. */
  readonly ipv6: boolean;
}

/** Every Ethernet has it. */
const commonMtu = 1500;

/**
 * The MTU for pod links: that of the uplink, the link of the default route (the one with the lowest metric, IPv4
 * before IPv6); without one the smallest of the links that are up and neither loopback nor Podwire's; else 1500.
 */
export function discoverMtu(host: HostView): number {
  const { links } = host;
  const uplinks = findUplinks(host);
  const others = links.filter(({ up, loopback, own }) => up && !loopback && !own);
  const candidates = uplinks.length > 0 ? uplinks : others;
  return candidates.reduce((least, { mtu }) => Math.min(least, mtu), candidates[0]?.mtu ?? commonMtu);
}

/** The links of the default route: of the one with the lowest metric, IPv4 before IPv6. */
export function findUplinks({ links, defaultRoutes }: HostView): HostLink[] {
  const [best] = defaultRoutes.toSorted((a, b) => a.family - b.family || a.metric - b.metric);
  return defaultRoutes
    .filter(({ family, metric }) => family === best?.family && metric === best.metric)
    .map(({ link }) => links.find(({ index }) => index === link))
    .filter((link) => link !== undefined);
}

/** Reports if the kernel would find no source for a packet to a pod. Addresses on links that are down count. */
export function lacksIPv4({ addresses }: HostView): boolean {
  return !addresses.some(({ address }) => address.includes('.') && !address.startsWith('127.'));
}
