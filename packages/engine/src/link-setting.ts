import type { InetSetting } from '@podwire/netlink';
import type { Sysctl } from './resource.js';

/** A parameter of one link, as an attribute of the link. */
export interface LinkSetting {
  readonly link: string;
  readonly settings: Readonly<Partial<Record<InetSetting, number>>>;
}

/**
 * Parameters that are no more than a value in the kernel (net/ipv4/devinet.c); setting `forwarding`, say, by attribute would
 * leave out what the file does besides.
 */
const plain: readonly string[] = ['proxy_arp', 'route_localnet', 'rp_filter', 'arp_ignore', 'accept_local'];

const perLink = /^net\/ipv4\/conf\/([^/]+)\/(\w+)$/;

/**
 * The same parameter in terms of rtnetlink, where there are any: it then travels with the link's other changes, for 1 µs,
 * where opening a file below /proc/sys costs 60 to 100 µs (measured).
 */
export function linkSettingOf({ key, value }: Pick<Sysctl, 'key' | 'value'>): LinkSetting | undefined {
  const [, link = '', name = ''] = perLink.exec(key) ?? [];
  if (link === '' || link === 'all' || link === 'default') return undefined;
  if (!plain.includes(name) || !/^\d{1,9}$/.test(value)) return undefined;
  return { link, settings: { [name]: Number(value) } };
}
