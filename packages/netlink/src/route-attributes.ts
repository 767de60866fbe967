/** Numbers of routes (include/uapi/linux/rtnetlink.h). */

export const RTM_NEWROUTE = 24;
export const RTM_DELROUTE = 25;
export const RTM_GETROUTE = 26;

/** struct rtmsg: family, dst_len, src_len, tos, table, protocol, scope, type (u8 each), flags (u32 at 8). */
export const RTMSG = 12;

export const RTA_DST = 1;
export const RTA_SRC = 2;
export const RTA_OIF = 4;
export const RTA_GATEWAY = 5;
export const RTA_PRIORITY = 6;
export const RTA_PREFSRC = 7;
export const RTA_METRICS = 8;
export const RTA_MULTIPATH = 9;
export const RTA_CACHEINFO = 12;
export const RTA_TABLE = 15;
export const RTA_MARK = 16;
export const RTA_VIA = 18;
export const RTA_EXPIRES = 23;
export const RTA_NH_ID = 30;

export const RTAX_MTU = 2;

export const RTNH_F_DEAD = 1;
export const RTNH_F_ONLINK = 4;
export const RTNH_F_LINKDOWN = 16;

export const RTM_F_LOOKUP_TABLE = 0x1000;

/** Routing tables with a name. */
export const RT_TABLE_DEFAULT = 253;
export const RT_TABLE_MAIN = 254;
export const RT_TABLE_LOCAL = 255;

/** Origin of a route: the kernel, `ip route` without `proto`, an administrator, a routing daemon. */
export const RTPROT_UNSPEC = 0;
export const RTPROT_KERNEL = 2;
export const RTPROT_BOOT = 3;
export const RTPROT_STATIC = 4;

/** ip-route(8) TYPE, in the order of RTN_*. */
export const routeTypes = [
  'unspecified',
  'unicast',
  'local',
  'broadcast',
  'anycast',
  'multicast',
  'blackhole',
  'unreachable',
  'prohibit',
  'throw',
  'nat',
] as const;

export type RouteType = (typeof routeTypes)[number];
