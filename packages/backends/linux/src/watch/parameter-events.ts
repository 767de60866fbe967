/** Events of kernel parameters of links. */
import type { InetSettings, Link } from '@podwire/netlink';

export interface LinkNow {
  readonly link: Link;
  readonly settings: () => InetSettings;
}

/** struct netconfmsg is the family in a byte, padded to four. */
const NETCONFMSG = 4;
/** NETCONFA_* (include/uapi/linux/netconf.h). */
const INDEX = 1;
const FORWARDING = 2;
const ALL_LINKS = -1;
const AF_INET = 2;
const AF_INET6 = 10;

/** Parameters of links that plans set and the kernel tells of. */
const ofLink = ['rp_filter', 'proxy_arp'] as const;

/** Parameters below /proc/sys that the event is about, with their values. The kernel tells of few. */
export function readParameters(
  payload: Buffer,
  linkOf: (index: number) => LinkNow | undefined,
): (readonly [key: string, value: string])[] {
  const values = readValues(payload);
  const index = values.get(INDEX);
  const [family] = payload;
  if (index === ALL_LINKS) return readForwarding(family, values.get(FORWARDING));
  if (index === undefined || index < 0 || family !== AF_INET) return [];
  const now = linkOf(index);
  // As they are now: a new link has the defaults at first, and there is no event of what this program sets them to.
  const settings = now?.settings() ?? {};
  return ofLink.flatMap((parameter) => {
    const value = settings[parameter];
    return value === undefined
      ? []
      : [[`net/ipv4/conf/${now!.link.name}/${parameter}`, String(value)] as const];
  });
}

function readForwarding(
  family: number | undefined,
  value: number | undefined,
): (readonly [string, string])[] {
  if (value === undefined) return [];
  if (family === AF_INET) return [['net/ipv4/ip_forward', String(value)]];
  return family === AF_INET6 ? [['net/ipv6/conf/all/forwarding', String(value)]] : [];
}

function readValues(payload: Buffer): ReadonlyMap<number, number> {
  const values = new Map<number, number>();
  for (let at = NETCONFMSG; at + 8 <= payload.length; at += (payload.readUInt16LE(at) + 3) & ~3) {
    const length = payload.readUInt16LE(at);
    if (length < 4) break;
    if (length >= 8) values.set(payload.readUInt16LE(at + 2), payload.readInt32LE(at + 4));
  }
  return values;
}
