import { type InetSetting, setLinkRequest } from '@podwire/netlink';
import { sysctlKey } from '../keys.js';
import {
  checkSysctl,
  compareSysctl,
  describeSysctl,
  keysBeforeSysctl,
  linkOfSysctl,
} from '../sysctl/describe.js';
import type { Sysctl } from '../sysctl/resources.js';
import type { RtnetlinkKind } from './kind.js';
import { shownSysctl } from './shown.js';

/** A sysctl of one link, as an attribute of the link. */
interface LinkSetting {
  readonly link: string;
  readonly name: InetSetting;
  readonly value: number;
}

/**
 * Parameters that are no more than a value in the kernel (net/ipv4/devinet.c); setting `forwarding`, say, by attribute
 * would leave out what the file does besides.
 */
const plain: readonly InetSetting[] = [
  'proxy_arp',
  'route_localnet',
  'rp_filter',
  'arp_ignore',
  'accept_local',
];

const perLink = /^net\/ipv4\/conf\/([^/]+)\/(\w+)$/;

/** The same sysctl in terms of rtnetlink, where there are any. */
export function linkSettingOf({ key, value }: Pick<Sysctl, 'key' | 'value'>): LinkSetting | undefined {
  const [, link = '', parameter] = perLink.exec(key) ?? [];
  if (link === '' || link === 'all' || link === 'default') return undefined;
  const name = plain.find((one) => one === parameter);
  if (name === undefined || !/^\d{1,9}$/.test(value)) return undefined;
  return { link, name, value: Number(value) };
}

/**
 * A sysctl that travels with the link's other changes, for 1 µs, where opening a file below /proc/sys costs 60 to
 * 100 µs (measured), and that is read with the link.
 */
export const linkSetting: RtnetlinkKind<Sysctl, string | undefined> = {
  kind: 'sysctl',
  check: checkSysctl,
  backend: 'rtnetlink',
  batch: 'entries',
  place: (resource) => resource.in,
  key: sysctlKey,
  describe: describeSysctl,
  removal: 'never',
  inPlace: true,
  independent: true,
  after: keysBeforeSysctl,
  diesWith: linkOfSysctl,
  create(resource, links) {
    const { link, name, value } = linkSettingOf(resource)!;
    return [setLinkRequest(links.indexOf(resource.in, link), { inetSettings: { [name]: value } })];
  },
  observe(resource, view) {
    if (resource.initial === true) return undefined;
    const { link, name } = linkSettingOf(resource)!;
    const value = view.side(resource.in).link(link)?.inetSettings?.[name];
    return value === undefined ? undefined : String(value);
  },
  compare: compareSysctl,
  shownBy: (_resource, now) => shownSysctl(now),
};
