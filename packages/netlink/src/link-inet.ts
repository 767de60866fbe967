/** IFLA_AF_SPEC: what the IP protocols keep for each link. */
import type { Attributes } from './attributes.js';
import { AF_INET, AF_INET6 } from './ip-address.js';
import { IFLA_AF_SPEC, IFLA_INET6_ADDR_GEN_MODE, IFLA_INET_CONF } from './link-attributes.js';
import type { PayloadWriter } from './payload.js';

/** ip-link(8) addrgenmode: `none` leaves a link without an IPv6 link-local address. */
export type AddressGenerationMode = 'eui64' | 'none' | 'stable-privacy' | 'random';

/** In the order of IN6_ADDR_GEN_MODE_*. */
export const generationModes: readonly AddressGenerationMode[] = [
  'eui64',
  'none',
  'stable-privacy',
  'random',
];

/** Names of net/ipv4/conf/DEVICE in the order of IPV4_DEVCONF_* (include/uapi/linux/ip.h), which starts at 1. */
export const inetSettingNames = [
  'forwarding',
  'mc_forwarding',
  'proxy_arp',
  'accept_redirects',
  'secure_redirects',
  'send_redirects',
  'shared_media',
  'rp_filter',
  'accept_source_route',
  'bootp_relay',
  'log_martians',
  'tag',
  'arp_filter',
  'medium_id',
  'disable_xfrm',
  'disable_policy',
  'force_igmp_version',
  'arp_announce',
  'arp_ignore',
  'promote_secondaries',
  'arp_accept',
  'arp_notify',
  'accept_local',
  'src_valid_mark',
  'proxy_arp_pvlan',
  'route_localnet',
  'igmpv2_unsolicited_report_interval',
  'igmpv3_unsolicited_report_interval',
  'ignore_routes_with_linkdown',
  'drop_unicast_in_l2_multicast',
  'drop_gratuitous_arp',
  'bc_forwarding',
  'arp_evict_nocarrier',
] as const;

export type InetSetting = (typeof inetSettingNames)[number];

/** Values by name. */
export type InetSettings = Readonly<Partial<Record<InetSetting, number>>>;

export interface InetChanges {
  readonly addressGenerationMode?: AddressGenerationMode;
  readonly inetSettings?: InetSettings;
}

export function writeFamilies(writer: PayloadWriter, changes: InetChanges): void {
  const { addressGenerationMode: mode, inetSettings: settings } = changes;
  if (mode === undefined && settings === undefined) return;
  writer.nest(IFLA_AF_SPEC, () => {
    if (settings !== undefined) writer.nest(AF_INET, () => writeInetSettings(writer, settings));
    if (mode === undefined) return;
    writer.nest(AF_INET6, () => writer.u8(IFLA_INET6_ADDR_GEN_MODE, generationModes.indexOf(mode)));
  });
}

function writeInetSettings(writer: PayloadWriter, settings: InetSettings): void {
  writer.nest(IFLA_INET_CONF, () => {
    for (const [name, value] of Object.entries(settings)) {
      const index = inetSettingNames.indexOf(name as InetSetting);
      if (index < 0) throw new RangeError(`no per-device IPv4 parameter ${JSON.stringify(name)}`);
      writer.i32(index + 1, value);
    }
  });
}

/** When the kernel tells its parameters it sends them as one array; when it is told, as attributes. */
export function readInetSettings(families: Attributes | undefined): InetSettings {
  const bytes = families?.nested(AF_INET)?.bytes(IFLA_INET_CONF) ?? Buffer.alloc(0);
  const known = inetSettingNames.slice(0, Math.floor(bytes.length / 4));
  return Object.fromEntries(known.map((name, index) => [name, bytes.readInt32LE(4 * index)]));
}

export function readGenerationMode(families: Attributes | undefined): AddressGenerationMode | undefined {
  return generationModes[families?.nested(AF_INET6)?.u8(IFLA_INET6_ADDR_GEN_MODE) ?? -1];
}
